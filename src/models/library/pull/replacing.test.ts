import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeSplitModel } from '../../random-model/random-gguf.ts';
import { openGround, readRandomModel, sha256, startSource, type Source } from '../testing.ts';

let source: Source;
let content: Buffer;
/** Another sound model. */
let own: Buffer;
beforeAll(async () => {
  source = await startSource();
  content = await readRandomModel();
  own = Buffer.concat([content, Buffer.alloc(64, 1)]);
});
afterAll(() => source[Symbol.asyncDispose]());
beforeEach(() => {
  source.files.clear();
  source.requests.length = 0;
});

type Ground = Awaited<ReturnType<typeof openGround>>;

function offer(files: readonly Buffer[], gate?: Promise<void>): string {
  const names = files.map((_, i) =>
    files.length === 1 ? '/model.gguf' : `/model-0000${i + 1}-of-0000${files.length}.gguf`,
  );
  for (const [i, bytes] of files.entries()) {
    source.files.set(names[i] ?? '', { content: bytes, ...(gate && { gate }) });
  }
  return source.origin + (names[0] ?? '');
}

async function writeOwn(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, own);
  return path;
}

describe('a model that came to be while another of its name was pulled', () => {
  test.each([
    ['by hand', ({ folder }: Ground) => writeOwn(folder, 'model.gguf')],
    ['by hand in another case', ({ folder }: Ground) => writeOwn(folder, 'Model@latest.gguf')],
    [
      'by being added',
      async ({ library, folder }: Ground) => {
        await library.add(await writeOwn(folder, 'other.gguf'), { name: 'model' });
        return join(folder, 'model.gguf');
      },
    ],
  ])('%s stays as it is', async (_, make) => {
    await using ground = await openGround();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const pulling = ground.pull(offer([content], gate));
    await expect.poll(() => source.requests.length).toBeGreaterThan(0);
    const path = await make(ground);
    open();
    await expect(pulling).rejects.toMatchObject({ code: 'conflict', reason: 'model_exists' });
    expect(sha256(await readFile(path))).toBe(sha256(own));
    await ground.library.delete('model');
    await ground.pull(offer([content]));
    expect(await ground.library.find('model')).toMatchObject({ digest: sha256(content) });
  });

  test('stays as it is when only its later parts have come yet', async () => {
    await using ground = await openGround();
    const later = await writeOwn(ground.folder, 'model-00002-of-00002.gguf');
    await expect(ground.pull(offer(encodeSplitModel(2)))).rejects.toMatchObject({
      reason: 'model_exists',
    });
    expect(sha256(await readFile(later))).toBe(sha256(own));
    expect(await ground.library.list()).toEqual([]);
  });
});

describe('a pulled model', () => {
  test('that was damaged is fetched again', async () => {
    await using ground = await openGround();
    const address = offer([content]);
    await ground.pull(address);
    const { path } = await ground.library.find('model');
    await truncate(path, Math.floor(content.length / 2));
    await ground.library.digestOf(await ground.library.find('model'));
    await ground.pull(address);
    expect(await ground.library.find('model')).toMatchObject({ digest: sha256(content) });
  });

  test.each([1, 2])('that lost part %s is fetched again', async (number) => {
    await using ground = await openGround();
    const address = offer(encodeSplitModel(2));
    await ground.pull(address);
    await rm(join(ground.folder, `model-0000${number}-of-00002.gguf`));
    await ground.library.list();
    await ground.pull(address);
    expect((await ground.library.find('model')).header).toBeDefined();
  });

  test('that somebody replaced by a sound one is not replaced in turn', async () => {
    await using ground = await openGround();
    const address = offer([content]);
    await ground.pull(address);
    const path = await writeOwn(ground.folder, 'model.gguf');
    await expect(ground.pull(address)).rejects.toMatchObject({ reason: 'model_exists' });
    expect(sha256(await readFile(path))).toBe(sha256(own));
  });
});
