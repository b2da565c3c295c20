import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomModelDescription, randomModelFile, writeRandomModel } from './random-gguf.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-gguf-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a file that is there is left as it is', async () => {
  const path = join(folder, 'present.gguf');
  await writeFile(path, 'mine');
  await writeRandomModel(path);
  expect(await readFile(path, 'utf8')).toBe('mine');
});

test('the random model is the same file on every machine, also when written twice at once', async () => {
  const path = join(folder, 'models', randomModelFile);
  await Promise.all([writeRandomModel(path), writeRandomModel(path)]);
  const bytes = await readFile(path);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(
    'cb660724b63bdb34d9de78db3a0de07a0459b60795f1228e435b09d0909886ed',
  );
  expect(bytes.length).toBeLessThan(2_000_000);
  expect(bytes.includes(randomModelDescription)).toBe(true);
  expect(await readdir(join(folder, 'models'))).toEqual([randomModelFile]);
});
