import { createHash } from 'node:crypto';
import { link, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStudio } from '../testing.ts';
import { openTestFiles } from './testing.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;

beforeAll(async () => {
  studio = await startStudio({ environment: { STUDIO_FILE_BYTES_MAX: '100000' } });
});
afterAll(() => studio[Symbol.asyncDispose]());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A workspace of Ada's and what calls its files. */
async function openWorkspace(settings: object = {}) {
  const ada = await studio.callAs('usr_ada');
  const { body } = await ada('POST', '/api/v1/workspaces', { name: 'Files', settings });
  const token = await studio.tokenOf('usr_ada');
  const send = async (method: string, path: string, { content, headers = {} }: Sent = {}) => {
    const url = `${studio.url}/api/v1/workspaces/${body.id}/files${path}`;
    const sent = content === undefined ? {} : { body: content };
    const asked = { authorization: `Bearer ${token}`, ...headers };
    const response = await fetch(url, { method, headers: asked, ...sent });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => read(text) };
  };
  return { id: body.id as string, root: body.path as string, send };
}

// Tests read whatever they expect; a wrong expectation fails them.
// oxlint-disable-next-line typescript/no-explicit-any
const read = (text: string): any => JSON.parse(text);

interface Sent {
  readonly content?: string;
  readonly headers?: Record<string, string>;
}

describe('A file', () => {
  test('that was written is on disk, in the listing and in the log of versions', async () => {
    const { root, send } = await openWorkspace();
    const first = await send('PUT', '/src/a%20b.txt', { content: 'one' });
    expect(first.status).toBe(201);
    expect(first.json()).toMatchObject({
      outcome: 'applied',
      seq: 1,
      file: { path: 'src/a b.txt', hash: sha256('one'), size: 3, executable: false },
    });
    expect(await readFile(join(root, 'src/a b.txt'), 'utf8')).toBe('one');
    await send('PUT', '/src/a%20b.txt?device=laptop', { content: 'two' });
    const got = await send('GET', '/src/a%20b.txt');
    expect([got.status, got.text]).toEqual([200, 'two']);
    expect(got.headers.get('etag')).toBe(`"${sha256('two')}"`);
    const { versions } = (await send('GET', '/src/a%20b.txt?versions=1')).json();
    expect(versions).toMatchObject([
      { seq: 2, hash: sha256('two'), deviceId: 'laptop' },
      { seq: 1, hash: sha256('one'), deviceId: 'api' },
    ]);
    expect((await send('GET', `/src/a%20b.txt?version=${sha256('one')}`)).text).toBe('one');
    const listed = (await send('GET', '?prefix=src/')).json();
    expect(listed).toMatchObject({ files: [{ path: 'src/a b.txt', seq: 2 }], usedBytes: 3 });
    await send('DELETE', '/src/a%20b.txt');
    expect(await readdir(root)).not.toContain('src');
    expect((await send('GET', '/src/a%20b.txt')).status).toBe(404);
    const content = JSON.stringify({ operation: 'restore', version: sha256('one') });
    const headers = { 'content-type': 'application/json' };
    expect((await send('POST', '/src/a%20b.txt', { content, headers })).status).toBe(200);
    expect((await send('GET', '/src/a%20b.txt')).text).toBe('one');
  });

  test('is served in ranges and not at all to those who have it', async () => {
    const { send } = await openWorkspace();
    await send('PUT', '/digits', { content: '0123456789' });
    const ranges = {
      'bytes=2-4': '234',
      'bytes=7-': '789',
      'bytes=-2': '89',
      'bytes=5-99': '56789',
    };
    for (const [range, text] of Object.entries(ranges)) {
      const part = await send('GET', '/digits', { headers: { range } });
      expect([part.status, part.text]).toEqual([206, text]);
    }
    const behind = await send('GET', '/digits', { headers: { range: 'bytes=10-' } });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const head = await send('HEAD', '/digits');
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, '10', '']);
    const etag = `"${sha256('0123456789')}"`;
    const known = await send('GET', '/digits', { headers: { 'if-none-match': etag } });
    expect([known.status, known.text]).toEqual([304, '']);
    const whole = await send('GET', '/digits', {
      headers: { range: 'bytes=2-4', 'if-range': `"${sha256('older')}"` },
    });
    expect([whole.status, whole.text]).toEqual([200, '0123456789']);
    const part = await send('GET', '/digits', {
      headers: { range: 'bytes=2-4', 'if-range': etag },
    });
    expect([part.status, part.text]).toEqual([206, '234']);
  });

  test('is kept from those who changed another state of it', async () => {
    const { send } = await openWorkspace();
    const made = { content: 'mine', headers: { 'if-none-match': '*' } };
    expect((await send('PUT', '/shared', made)).status).toBe(201);
    const again = await send('PUT', '/shared', { ...made, content: 'yours' });
    expect([again.status, again.json().error.code]).toEqual([412, 'PRECONDITION_FAILED']);
    expect(again.json().error.details.hash).toBe(sha256('mine'));
    const stale = { content: 'late', headers: { 'if-match': `"${sha256('older')}"` } };
    expect((await send('PUT', '/shared', stale)).status).toBe(412);
    const fresh = { content: 'next', headers: { 'if-match': `"${sha256('mine')}"` } };
    expect((await send('PUT', '/shared', fresh)).status).toBe(200);
    const [next, other] = [`"${sha256('next')}"`, `"${sha256('older')}"`];
    const refused: [string, Record<string, string>][] = [
      ['/nowhere', { 'if-match': '*' }],
      ['/shared', { 'if-none-match': `${other}, ${next}` }],
      ['/shared', { 'if-match': next, 'if-none-match': '*' }],
      ['/nowhere', { 'if-match': next, 'if-none-match': '*' }],
    ];
    for (const [path, headers] of refused) {
      expect((await send('PUT', path, { content: 'x', headers })).status).toBe(412);
    }
    expect((await send('GET', '/nowhere')).status).toBe(404);
    const one = { content: 'listed', headers: { 'if-match': `${other}, ${next}` } };
    expect((await send('PUT', '/shared', one)).status).toBe(200);
  });

  test('that was changed in the folder is not overwritten unseen', async () => {
    const { root, send } = await openWorkspace();
    await send('PUT', '/notes', { content: 'stored' });
    await writeFile(join(root, 'notes'), 'by hand');
    expect((await send('GET', '/notes')).text).toBe('by hand');
    await writeFile(join(root, 'notes'), 'by hand again');
    await send('PUT', '/notes', { content: 'by the API' });
    const { versions } = (await send('GET', '/notes?versions=1')).json();
    expect(versions.map((version: { deviceId: string }) => version.deviceId)).toEqual([
      'api',
      'disk',
      'disk',
      'api',
    ]);
    const lost = await send('GET', `/notes?version=${sha256('by hand again')}`);
    expect(lost.text).toBe('by hand again');
  });
});

describe('A path', () => {
  test.each([
    '/..%2f..%2fetc%2fpasswd',
    '/a/%2e%2e/%2e%2e/b',
    '/%2fetc%2fpasswd',
    '/a%5c..%5cb',
    '/C:%5cwindows',
    '/a%00b',
    '/a%0ab',
    '/con',
    '/dir/nul.txt',
    '/ends%20',
    '/ends.',
    '/a//b',
    '/.ennead/x',
    `/${'x'.repeat(256)}`,
  ])('that leads elsewhere or that not every system can have is refused: %s', async (path) => {
    const { root, send } = await openWorkspace();
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const sent = method === 'PUT' ? { content: 'evil' } : {};
      const { status } = await send(method, path, sent);
      expect([400, 404, 414]).toContain(status);
    }
    expect(await readdir(root)).toEqual([]);
  });

  test('through a symbolic link, or to one, leads nowhere', async () => {
    const { root, send } = await openWorkspace();
    const outside = join(tmpdir(), `ennead-outside-${Date.now()}`);
    await mkdir(outside);
    try {
      await writeFile(join(outside, 'secret'), 'secret');
      await symlink(outside, join(root, 'door'));
      await symlink(join(outside, 'secret'), join(root, 'window'));
      await link(join(outside, 'secret'), join(root, 'twin'));
      for (const path of ['/door/secret', '/window', '/twin']) {
        expect((await send('GET', path)).status).toBe(404);
      }
      for (const path of ['/door/new', '/door/secret', '/window']) {
        const { status, json } = await send('PUT', path, { content: 'evil' });
        expect([status, json().error.code]).toEqual([400, 'PATH_INVALID']);
      }
      expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
      expect(await readdir(outside)).toEqual(['secret']);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  test.each([
    ['Read.me', 'read.ME'],
    ['Docs/a', 'docs/b'],
    ['stra%C3%9Fe', 'STRASSE'],
    ['name', 'name/below'],
    ['deep/name/below', 'deep/name'],
  ])('%s leaves no place for %s', async (first, second) => {
    const { send } = await openWorkspace();
    expect((await send('PUT', `/${first}`, { content: '1' })).status).toBe(201);
    const { status, json } = await send('PUT', `/${second}`, { content: '2' });
    expect(status).toBe(400);
    expect(json().error.code).toMatch(/^PATH_(COLLISION|INVALID)$/);
  });

  test('is the same in every normal form', async () => {
    const { send } = await openWorkspace();
    await send('PUT', `/${encodeURIComponent('e\u0301te\u0301')}`, { content: 'summer' });
    expect((await send('GET', `/${encodeURIComponent('\u00e9t\u00e9')}`)).text).toBe('summer');
  });
});

describe('What is too much', () => {
  test('for the workspace is refused and leaves nothing', async () => {
    const { root, send } = await openWorkspace({ quotaBytes: 10 });
    expect((await send('PUT', '/a', { content: '12345678' })).status).toBe(201);
    const more = await send('PUT', '/b', { content: '123' });
    expect([more.status, more.json().error.code]).toEqual([413, 'QUOTA_EXCEEDED']);
    expect(await readdir(root)).toEqual(expect.not.arrayContaining(['b']));
    expect((await send('PUT', '/a', { content: '1' })).status).toBe(200);
    expect((await send('PUT', '/b', { content: '123' })).status).toBe(201);
  });

  test('for a file is refused', async () => {
    const { send } = await openWorkspace();
    const { status, json } = await send('PUT', '/large', { content: 'x'.repeat(100_001) });
    expect([status, json().error.code]).toEqual([413, 'FILE_TOO_LARGE']);
  });

  test('for a file refuses it by what its headers say, before it is sent', async () => {
    const { id } = await openWorkspace();
    const authorization = `Bearer ${await studio.tokenOf('usr_ada')}`;
    const asked = request(`${studio.url}/api/v1/workspaces/${id}/files/large`, {
      method: 'PUT',
      headers: { authorization, 'content-length': 100_001 },
    });
    asked.on('error', () => {});
    // Nothing of the body is ever sent.
    asked.flushHeaders();
    const status = await new Promise((resolve) => {
      asked.once('response', (answer) => resolve(answer.statusCode));
    });
    expect(status).toBe(413);
    asked.destroy();
  });
});

test('many writers of one file leave every content somewhere', async () => {
  await using ground = await openTestFiles(studio.database);
  const { files, id } = ground;
  const base = await files.apply(id, {
    deviceId: 'd0',
    path: 'race',
    content: Buffer.from('base'),
  });
  const baseHash = base.record?.hash ?? null;
  const contents = Array.from({ length: 8 }, (_, index) => `content ${index}`);
  const applied = await Promise.all(
    contents.map((content, index) =>
      files.apply(id, {
        deviceId: `d${index}`,
        path: 'race',
        baseHash,
        content: Buffer.from(content),
      }),
    ),
  );
  expect(applied.filter(({ outcome }) => outcome === 'applied')).toHaveLength(1);
  const there = await files.list(id, { limit: 100 });
  expect(new Set(there.map(({ hash }) => hash))).toEqual(new Set(contents.map(sha256)));
  const seqs = (await files.changes(id, 0, 100))?.map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: 9 }, (_, index) => index + 1));
});

test('a change that is sent once more is done once', async () => {
  await using ground = await openTestFiles(studio.database);
  const { files, id } = ground;
  const change = { deviceId: 'd', path: 'once', opId: 'op-1', baseHash: null };
  const first = await files.apply(id, { ...change, content: Buffer.from('x') });
  await files.apply(id, { deviceId: 'd', path: 'once', content: Buffer.from('y') });
  const again = await files.apply(id, { ...change, content: Buffer.from('x') });
  expect(again).toMatchObject({ outcome: 'applied', seq: first.seq });
  expect(await files.lastSeq(id)).toBe(2);
});

test('a rescan finds what was made, changed and deleted in the folder, and leaves alone what is ignored', async () => {
  await using ground = await openTestFiles(studio.database);
  const { files, id, root } = ground;
  for (const path of ['kept', 'gone']) {
    await files.apply(id, { deviceId: 'd', path, content: Buffer.from(path) });
  }
  await writeFile(join(root, '.enneadignore'), 'build/\n*.log\n');
  await mkdir(join(root, 'build'));
  await writeFile(join(root, 'build', 'out'), 'ignored');
  await writeFile(join(root, 'a.log'), 'ignored');
  await writeFile(join(root, 'new'), 'new');
  await writeFile(join(root, 'kept'), 'changed');
  await rm(join(root, 'gone'));
  expect(await files.rescan(id)).toEqual({ changed: 4, files: 3 });
  const there = await files.list(id, { limit: 100 });
  expect(there.map(({ path }) => path)).toEqual(['.enneadignore', 'kept', 'new']);
  expect(await files.rescan(id)).toEqual({ changed: 0, files: 3 });
});
