import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Contract } from '../src/kit/contract.ts';
import { peerPermission } from '../src/kit/permissions.ts';
import { services } from '../src/services.ts';

const page = readFileSync(new URL('../docs/administration.md', import.meta.url), 'utf8');
const listed = [...page.matchAll(/^\| `([a-z]+:[a-z]+)`/gm)].map(([, name = '']) => name);

function permissionsOf({ routes, sockets = {} }: Contract): readonly string[] {
  const doors = [...Object.values(routes), ...Object.values(sockets)];
  return doors.flatMap(({ permission = [] }) => permission);
}

test('the page on administration lists every permission that a route asks for', () => {
  const asked = new Set(services.flatMap(({ contract }) => permissionsOf(contract)));
  asked.delete(peerPermission);
  expect(listed).toEqual(expect.arrayContaining([...asked]));
});
