import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSealer } from './sealing.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-sealing-'));
});

afterEach(() => rm(folder, { recursive: true }));

const plain = Buffer.from('a secret');

test('nothing is opened in another context, or when a bit of it changed', async () => {
  const sealer = await openSealer({ folder, mayCreate: true });
  const sealed = sealer.seal(plain, 'here');
  expect(sealer.unseal(sealed, 'here')).toEqual(plain);
  expect(() => sealer.unseal(sealed, 'there')).toThrow('is not the one');
  const changed = sealed.endsWith('A') ? `${sealed.slice(0, -1)}Q` : `${sealed.slice(0, -1)}A`;
  expect(() => sealer.unseal(changed, 'here')).toThrow('is not the one');
  expect(() => sealer.unseal('key-1.', 'here')).toThrow('is not the one');
  expect(() => sealer.unseal('nonsense', 'here')).toThrow('is missing');
});

test('the same text sealed twice looks different', async () => {
  const sealer = await openSealer({ folder, mayCreate: true });
  expect(sealer.seal(plain, 'here')).not.toBe(sealer.seal(plain, 'here'));
});

test('a folder without a key file is refused where none may be made', async () => {
  await expect(openSealer({ folder, mayCreate: false })).rejects.toThrow('key-1 is missing');
});

test('the newest key file seals, the older ones still open', async () => {
  const before = await openSealer({ folder, mayCreate: true });
  const old = before.seal(plain, 'here');
  await writeFile(join(folder, 'key-2'), randomBytes(32));
  const after = await openSealer({ folder, mayCreate: false });
  expect(after.seal(plain, 'here')).toMatch(/^key-2\./);
  expect(after.unseal(old, 'here')).toEqual(plain);
  await rm(join(folder, 'key-1'));
  const late = await openSealer({ folder, mayCreate: false });
  expect(() => late.unseal(old, 'here')).toThrow('key-1 is missing');
});
