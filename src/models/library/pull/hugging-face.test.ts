import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openGround, readRandomModel, sha256, startSource, type Source } from '../testing.ts';

let source: Source;
let content: Buffer;
beforeAll(async () => {
  source = await startSource();
  content = await readRandomModel();
});
afterAll(() => source[Symbol.asyncDispose]());
beforeEach(() => {
  source.files.clear();
  source.requests.length = 0;
});

const listing = '/api/models/some/repo/tree/main';

interface Page {
  readonly files: readonly string[];
  readonly bytes?: Buffer;
  readonly link?: string;
}

function list(path: string, { files, bytes = content, link }: Page): void {
  const tree = files.map((file) => ({
    path: file,
    size: bytes.length,
    lfs: { oid: sha256(bytes), size: bytes.length },
  }));
  const page = Buffer.from(JSON.stringify(tree));
  source.files.set(path, { content: page, ...(link !== undefined && { link }) });
  for (const file of files) source.files.set(`/some/repo/resolve/main/${file}`, { content: bytes });
}

function open() {
  return openGround({ huggingFaceUrl: source.origin });
}

describe('a listing in pages', () => {
  test('that leads to another host is not followed', async () => {
    await using ground = await open();
    list(listing, { files: ['notes.md'], link: '<http://127.0.0.2:1/more>; rel="next"' });
    await expect(ground.pull('hf.co/some/repo')).rejects.toMatchObject({
      code: 'upstream',
      message: expect.stringContaining('another host'),
    });
    expect(source.requests).toHaveLength(1);
  });

  test('that never ends is given up', async () => {
    await using ground = await open();
    list(listing, { files: ['notes.md'], link: `<${source.origin}${listing}>; rel="next"` });
    await expect(ground.pull('hf.co/some/repo')).rejects.toMatchObject({ code: 'upstream' });
  });

  test('is read to its end', async () => {
    await using ground = await open();
    const link = `<${source.origin}/first>; rel="first", <${source.origin}/more?cursor=1>; rel="next"`;
    list(listing, { files: ['notes.md'], link });
    list('/more', { files: ['m-Q8_0.gguf'] });
    await ground.pull('hf.co/some/repo');
    expect(await ground.library.list()).toMatchObject([{ name: 'hf.co/some/repo:Q8_0' }]);
  });
});

test('a file without a byte is a fault of the source', async () => {
  await using ground = await open();
  list(listing, { files: ['m-Q8_0.gguf'], bytes: Buffer.alloc(0) });
  await expect(ground.pull('hf.co/some/repo')).rejects.toMatchObject({
    code: 'upstream',
    message: expect.stringContaining('no bytes'),
  });
});
