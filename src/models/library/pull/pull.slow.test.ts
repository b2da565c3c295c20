import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { spawnModule } from '../../../kit/database/testing.ts';
import { silentLog } from '../../../kit/testing.ts';
import { builtInFolder } from '../built-in.ts';
import { ModelLibrary } from '../library.ts';
import {
  collect,
  diskBytes,
  mountDisk,
  openGround,
  readRandomModel,
  sha256,
  startSource,
  type Source,
  type SourceFile,
} from '../testing.ts';

let source: Source;
let content: Buffer;
let digest: string;
beforeAll(async () => {
  source = await startSource();
  content = await readRandomModel();
  digest = sha256(content);
});
afterAll(() => source[Symbol.asyncDispose]());
beforeEach(() => {
  source.requests.length = 0;
  source.files.clear();
  source.redirects.clear();
});

const etag = '"v1"';

/** Offers the model at a path; answers its address. */
function offer(file: Partial<SourceFile> = {}, path = '/some-model.gguf'): string {
  source.files.set(path, { content, etag, ...file });
  return source.origin + path;
}

function offerRegistry(named = digest): string {
  const layer = { mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${named}` };
  const layers = [
    { mediaType: 'application/vnd.ollama.image.license', digest: `sha256:${digest}`, size: 1 },
    { ...layer, size: content.length },
  ];
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, layers }));
  offer({ content: manifest }, '/v2/library/tiny/manifests/1m');
  return `/v2/library/tiny/blobs/sha256:${named}`;
}

async function offerHub(files: readonly string[]): Promise<void> {
  const tree = files.map((path) => ({
    type: 'file',
    path,
    size: content.length,
    lfs: { oid: digest, size: content.length, pointerSize: 134 },
  }));
  offer({ content: Buffer.from(JSON.stringify(tree)) }, '/api/models/some/repo/tree/main');
  for (const path of files) offer({}, `/some/repo/resolve/main/${path}`);
}

describe('what is refused', () => {
  test.each([
    '',
    'a b',
    '../../etc/passwd',
    'hf.co/only-owner',
    'https://user:secret@127.0.0.1/a.gguf',
    'https://127.0.0.1/a.bin',
    'https://127.0.0.1/a.gguf#sha256=zz',
    'https://127.0.0.1/a.gguf#sha256=abc',
    `https://127.0.0.1/a.gguf#sha512=${'0'.repeat(64)}`,
    `https://127.0.0.1/a.gguf#${'0'.repeat(64)}`,
    'ftp://127.0.0.1/a.gguf',
    `x${'y'.repeat(3000)}`,
  ])('"%.40s" is no model to pull', async (name) => {
    await using ground = await openGround();
    await expect(ground.pull(name)).rejects.toMatchObject({ code: 'invalid' });
    expect(source.requests).toEqual([]);
  });

  test('a host that is not on the list is refused without a connection', async () => {
    await using ground = await openGround({ allow: 'huggingface.co' });
    await expect(ground.pull(offer())).rejects.toMatchObject({
      code: 'forbidden',
      reason: 'pull_not_allowed',
    });
    expect(source.requests).toEqual([]);
  });

  test('no http but to this machine', async () => {
    await using ground = await openGround({ allow: 'example.com' });
    await expect(ground.pull('http://example.com/a.gguf')).rejects.toMatchObject({
      reason: 'pull_not_allowed',
    });
  });

  test('a redirect to a host that is not on the list is refused, and nothing is left', async () => {
    await using ground = await openGround();
    const address = offer();
    source.redirects.set('/some-model.gguf', 'https://elsewhere.example/some-model.gguf');
    await expect(ground.pull(address)).rejects.toMatchObject({ reason: 'pull_not_allowed' });
    expect(await ground.library.list()).toEqual([]);
  });

  test('an address without a model is not found, and leaves nothing', async () => {
    await using ground = await openGround();
    await expect(ground.pull(`${source.origin}/none.gguf`)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test.each(['ennead-embed', 'Ennead-Embed:v2', 'ennead-tiny', 'ENNEAD-TINY:latest'])(
    'the name %s, which is that of something that came with Ennead',
    async (name) => {
      await using own = await openGround();
      const { folder } = own;
      const library = new ModelLibrary({ folder, builtInFolder, log: silentLog });
      await using ground = await openGround({ folder, library, ollamaRegistryUrl: source.origin });
      await expect(ground.pull(name)).rejects.toMatchObject({
        code: 'conflict',
        reason: 'model_built_in',
      });
      await expect(ground.pull(offer({}, '/ennead-embed.gguf'))).rejects.toMatchObject({
        reason: 'model_built_in',
      });
      expect(source.requests).toEqual([]);
      await library[Symbol.asyncDispose]();
    },
  );

  test('a file that is no model is not installed, nor is its part kept', async () => {
    await using ground = await openGround();
    const address = offer({ content: Buffer.from('<html>no model</html>') });
    await expect(ground.pull(address)).rejects.toMatchObject({ reason: 'bad_model_file' });
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('a model of the same name that was put there by hand is not replaced', async () => {
    await using ground = await openGround();
    await writeFile(join(ground.folder, 'some-model.gguf'), 'mine');
    await expect(ground.pull(offer())).rejects.toMatchObject({ reason: 'model_exists' });
    expect(await readFile(join(ground.folder, 'some-model.gguf'), 'utf8')).toBe('mine');
  });
});

describe('a source that fails', () => {
  test('a cut download goes on where it was cut', async () => {
    await using ground = await openGround();
    await ground.pull(offer({ cuts: [100_000, 50_000], part: partOf(ground) }));
    expect(source.requests.map(({ range }) => range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=150000-',
    ]);
    const [model] = await ground.library.list();
    expect(model).toMatchObject({ name: 'some-model', digest });
  });

  test('a pull that failed goes on in the next one', async () => {
    await using ground = await openGround({ patience: { attemptsMax: 1, delayMs: 1 } });
    const address = offer({ cuts: [100_000], part: partOf(ground) });
    await expect(ground.pull(address)).rejects.toMatchObject({ code: 'upstream' });
    await ground.pull(address);
    expect(source.requests[1]?.range).toBe('bytes=100000-');
    expect(await ground.library.list()).toMatchObject([{ digest }]);
  });

  test('a source without ranges is read from the beginning', async () => {
    await using ground = await openGround();
    await ground.pull(offer({ hasRanges: false, cuts: [100_000], part: partOf(ground) }));
    expect(await ground.library.list()).toMatchObject([{ digest }]);
  });

  test('one that cuts, and answers a range with all of the file, is given up', async () => {
    await using ground = await openGround();
    const cuts = Array.from({ length: 50 }, () => 100_000);
    const address = offer({ isMistaken: true, cuts, part: partOf(ground) });
    await expect(ground.pull(address)).rejects.toMatchObject({ reason: 'pull_cut' });
    expect(source.requests.length).toBeLessThan(10);
  });

  test('content that has changed in the meantime is read from the beginning', async () => {
    await using ground = await openGround({ patience: { attemptsMax: 1, delayMs: 1 } });
    const other = Buffer.concat([content, Buffer.alloc(32)]);
    const part = partOf(ground);
    const address = offer({ content: other, etag: '"v0"', cuts: [100_000], part });
    await expect(ground.pull(address)).rejects.toMatchObject({ code: 'upstream' });
    await ground.pull(offer());
    expect(await ground.library.list()).toMatchObject([{ digest }]);
  });

  test('other bytes than the digest says are neither installed nor kept', async () => {
    const named = sha256(Buffer.from('other'));
    await using ground = await openGround({ ollamaRegistryUrl: source.origin });
    offer({}, offerRegistry(named));
    await expect(ground.pull('tiny:1m')).rejects.toMatchObject({ reason: 'digest_mismatch' });
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('a digest that the address names is checked too', async () => {
    await using ground = await openGround();
    const address = `${offer()}#sha256=${'0'.repeat(64)}`;
    await expect(ground.pull(address)).rejects.toMatchObject({ reason: 'digest_mismatch' });
  });

  test('a spoilt part is seen by its digest and fetched anew', async () => {
    const patience = { attemptsMax: 1, delayMs: 1 };
    await using ground = await openGround({ ollamaRegistryUrl: source.origin, patience });
    const part = join(ground.folder, 'tiny@1m.gguf.part');
    offer({ cuts: [100_000], part }, offerRegistry());
    await expect(ground.pull('tiny:1m')).rejects.toMatchObject({ code: 'upstream' });
    await writeFile(part, Buffer.alloc(100_000, 'x'));
    await ground.pull('tiny:1m');
    expect(await ground.library.list()).toMatchObject([{ name: 'tiny:1m', digest }]);
  });

  test('a source that says no size is pulled, and goes on by its tag when it was cut', async () => {
    await using ground = await openGround();
    const progress = await ground.pull(
      offer({ isSizeless: true, cuts: [100_000], part: partOf(ground) }),
    );
    expect(source.requests.map(({ range }) => range)).toEqual([undefined, 'bytes=100000-']);
    expect(progress.find(({ completed }) => completed !== undefined)).not.toHaveProperty('total');
    expect(await ground.library.list()).toMatchObject([{ name: 'some-model', digest }]);
  });

  test('a connection that is refused is tried again three times at most, and says so', async () => {
    await using ground = await openGround({ patience: { attemptsMax: 100, delayMs: 100 } });
    const gone = await startSource();
    await gone[Symbol.asyncDispose]();
    const seen: string[] = [];
    const pulling = async () => {
      const { signal } = new AbortController();
      for await (const { status } of ground.puller.pull(`${gone.origin}/a.gguf`, { signal }))
        seen.push(status);
    };
    await expect(pulling()).rejects.toMatchObject({ code: 'upstream', reason: 'pull_cut' });
    expect(seen).toContainEqual(expect.stringContaining('cannot be reached'));
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('a source that falls silent counts as broken', async () => {
    await using ground = await openGround({
      stallMs: 50,
      patience: { attemptsMax: 1, delayMs: 1 },
    });
    const gate = new Promise<void>(() => {});
    await expect(ground.pull(offer({ gate }))).rejects.toMatchObject({ code: 'upstream' });
  });

  test('a process that is killed leaves a part that the next one goes on with', async () => {
    await using ground = await openGround();
    const address = offer({ gate: new Promise<void>(() => {}) });
    const child = spawnModule(pullInto, [ground.folder, address]);
    const half = Math.floor(content.length / 2);
    const part = partOf(ground);
    const sizeOfPart = async () => (await stat(part).catch(() => undefined))?.size;
    await expect.poll(sizeOfPart).toBe(half);
    child.kill('SIGKILL');
    await once(child, 'exit');
    source.requests.length = 0;
    await ground.pull(offer());
    expect(source.requests.map(({ range }) => range)).toEqual([`bytes=${half}-`]);
    expect(await ground.library.list()).toMatchObject([{ digest }]);
  });
});

describe('a good source', () => {
  test('an Ollama name is resolved by the registry', async () => {
    await using ground = await openGround({ ollamaRegistryUrl: source.origin });
    const blob = offerRegistry();
    offer({}, '/cdn/data');
    source.redirects.set(blob, `${source.origin}/cdn/data`);
    const progress = await ground.pull('tiny:1m');
    expect(progress.map(({ status }) => status)).toEqual([
      'pulling manifest',
      ...progress.filter(({ total }) => total !== undefined).map(({ status }) => status),
      'verifying sha256 digest',
      'writing manifest',
      'success',
    ]);
    const figures = progress.filter(({ total }) => total !== undefined);
    expect(figures.at(-1)).toEqual({
      status: `pulling ${digest.slice(0, 12)}`,
      digest: `sha256:${digest}`,
      total: content.length,
      completed: content.length,
    });
    expect(await ground.library.find('TINY:1M')).toMatchObject({
      name: 'tiny:1m',
      digest,
      source: source.origin + blob,
    });
    expect((await readdir(ground.folder)).toSorted()).toEqual([
      'tiny@1m.gguf',
      'tiny@1m.gguf.json',
    ]);
  });

  test('of a Hugging Face repository the quantisation picks the file', async () => {
    await using ground = await openGround({ huggingFaceUrl: source.origin });
    await offerHub(['Tiny-Q8_0.gguf', 'Tiny-Q4_K_M.gguf', 'mmproj-Tiny-F16.gguf']);
    await ground.pull('hf.co/some/repo:q8_0');
    await ground.pull('hf.co/some/repo');
    const names = (await ground.library.list()).map(({ name }) => name);
    expect(names).toEqual(['hf.co/some/repo:Q4_K_M', 'hf.co/some/repo:Q8_0']);
    await expect(ground.pull('hf.co/some/repo:Q2_K')).rejects.toMatchObject({
      code: 'not_found',
      detail: { available: ['Tiny-Q8_0.gguf', 'Tiny-Q4_K_M.gguf'] },
    });
  });

  test('a model that is installed already is not fetched again', async () => {
    await using ground = await openGround({ ollamaRegistryUrl: source.origin });
    offer({}, offerRegistry());
    await ground.pull('tiny:1m');
    source.requests.length = 0;
    expect((await ground.pull('tiny:1m')).at(-1)).toEqual({ status: 'success' });
    expect(source.requests.map(({ path }) => path)).toEqual(['/v2/library/tiny/manifests/1m']);
  });

  test('a source that closes its connections and is faster than the disk harms nobody', async () => {
    await using ground = await openGround();
    const big = Buffer.concat([content, Buffer.alloc(32 * 1024 * 1024)]);
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(`HTTP/1.0 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`);
        socket.end(big);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A listening TCP server has an address object.
    const { port } = server.address() as AddressInfo;
    await ground.pull(`http://127.0.0.1:${port}/big.gguf`);
    server.close();
    expect(await ground.library.list()).toMatchObject([{ name: 'big', digest: sha256(big) }]);
  });

  test('two pulls of one model are one download, which both see to its end', async () => {
    await using ground = await openGround();
    const { gate, open } = makeGate();
    const address = offer({ gate });
    const first = ground.pull(address);
    const second = ground.pull(address);
    setImmediate(open);
    const [one, other] = await Promise.all([first, second]);
    expect(one.at(-1)).toEqual({ status: 'success' });
    expect(other.at(-1)).toEqual({ status: 'success' });
    expect(source.requests).toHaveLength(1);
  });

  test('a pull goes on while one of its watchers is left, and ends with the last', async () => {
    await using ground = await openGround();
    const { gate, open } = makeGate();
    const address = offer({ gate });
    const [first, second] = [new AbortController(), new AbortController()];
    const one = collect(ground.puller.pull(address, { signal: first.signal }));
    const other = collect(ground.puller.pull(address, { signal: second.signal }));
    await arrival();
    first.abort();
    await expect(one).rejects.toMatchObject({ code: 'cancelled' });
    second.abort();
    await expect(other).rejects.toMatchObject({ code: 'cancelled' });
    open();
    await ground.pull(offer());
    expect(source.requests).toHaveLength(2);
    expect(await ground.library.list()).toMatchObject([{ digest }]);
  });
});

describe('a full disk', () => {
  test('is seen before anything is fetched', async (context) => {
    await using disk = await mountDisk();
    if (!disk) {
      context.skip('only root can mount a small disk');
      return;
    }
    await using ground = await openGround({ folder: disk.path });
    await writeFile(join(disk.path, 'filler'), Buffer.alloc(diskBytes - content.length / 2));
    await expect(ground.pull(offer())).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'disk_full',
      status: 507,
      detail: { needed: content.length, free: expect.any(Number) },
    });
  });

  test('that fills up in the middle keeps what has arrived for the next pull', async (context) => {
    await using disk = await mountDisk();
    if (!disk) {
      context.skip('only root can mount a small disk');
      return;
    }
    await using ground = await openGround({ folder: disk.path });
    const { gate, open } = makeGate();
    const pulled = ground.pull(offer({ gate }));
    const part = join(disk.path, 'some-model.gguf.part');
    await expect
      .poll(() =>
        stat(part).then(
          ({ size }) => size,
          () => 0,
        ),
      )
      .toBeGreaterThan(0);
    const filler = join(disk.path, 'filler');
    await writeFile(filler, Buffer.alloc(diskBytes)).catch(() => {});
    open();
    await expect(pulled).rejects.toMatchObject({ code: 'unavailable', reason: 'disk_full' });
    await rm(filler);
    source.requests.length = 0;
    await ground.pull(offer());
    expect(source.requests[0]?.range).toMatch(/^bytes=[1-9]/);
    expect(await ground.library.list()).toMatchObject([{ digest }]);
  });
});

/** The text of a process that pulls an address into a folder. */
const pullInto = `
  const { openGround } = await open('../../models/library/testing.ts');
  const [folder, address] = parameters;
  const ground = await openGround({ folder });
  await ground.pull(address);
`;

/** Where the part of `some-model` stands. */
function partOf({ folder }: { readonly folder: string }): string {
  return join(folder, 'some-model.gguf.part');
}

function makeGate() {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, open: () => open() };
}

/** Resolves when the source has been asked. */
async function arrival(): Promise<void> {
  await expect.poll(() => source.requests.length).toBeGreaterThan(0);
}
