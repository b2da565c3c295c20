import { expect, test } from 'vitest';
import { allows, mayGrant, peerPermission } from './permissions.ts';

const cases: readonly { held: readonly string[]; needed: string; is: boolean }[] = [
  { held: ['workflow:read'], needed: 'workflow:read', is: true },
  { held: ['workflow:*'], needed: 'workflow:read', is: true },
  { held: ['*'], needed: 'workflow:read', is: true },
  { held: ['*'], needed: peerPermission, is: false },
  { held: ['workflow:create'], needed: 'workflow:read', is: true },
  { held: ['workflow:create'], needed: 'workflow:execute', is: true },
  { held: ['workflow:admin'], needed: 'workflow:create', is: true },
  { held: ['agent:execute'], needed: 'agent:read', is: true },
  { held: ['workflow:execute'], needed: 'workflow:read', is: false },
  { held: ['workflow:read'], needed: 'workflow:create', is: false },
  { held: ['agent:read'], needed: 'agent:execute', is: false },
  { held: ['agent:execute'], needed: 'constructor', is: false },
  { held: [], needed: 'agent:read', is: false },
];

test.each(cases)('$held has $needed in it: $is', ({ held, needed, is }) => {
  expect(allows(held, needed)).toBe(is);
});

test('what is implied may be handed out, and nothing beside it', () => {
  expect(mayGrant(['workflow:create'], ['workflow:read', 'workflow:execute'])).toBe(true);
  expect(mayGrant(['workflow:create'], ['workflow:read', 'workflow:admin'])).toBe(false);
});
