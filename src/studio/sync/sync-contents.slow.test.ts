import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStudio } from '../testing.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;
let ada: Awaited<ReturnType<typeof studio.callAs>>;

beforeAll(async () => {
  studio = await startStudio({
    environment: { STUDIO_QUOTA_BYTES: '1000000', STUDIO_FILE_BYTES_MAX: '600000' },
  });
  ada = await studio.callAs('usr_ada');
});
afterAll(() => studio[Symbol.asyncDispose]());

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const base = '/api/v1/sync';

async function makeWorkspace(given: object = {}): Promise<{ id: string; path: string }> {
  const { status, body } = await ada('POST', '/api/v1/workspaces', { name: 'Copies', ...given });
  expect(status).toBe(201);
  return body;
}

async function send(workspaceId: string, changes: object[], deviceId = 'laptop') {
  return ada('POST', `${base}/changes`, { workspaceId, deviceId, changes });
}

async function putBlob(
  workspaceId: string,
  content: string,
  { hash = sha256(content), subject = 'usr_ada' } = {},
) {
  const response = await fetch(`${studio.url}${base}/blobs/${hash}?workspaceId=${workspaceId}`, {
    method: 'PUT',
    body: content,
    headers: { authorization: `Bearer ${await studio.tokenOf(subject)}` },
  });
  // Tests read whatever they expect; a wrong expectation fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  const body: any = await response.json();
  return { status: response.status, code: body.error?.code, body };
}

/** How many contents lie on the disk, staged ones too. */
async function countBlobs(root: string): Promise<number> {
  const blobs = join(dirname(dirname(root)), 'studio', 'blobs');
  const entries = await readdir(blobs, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).length;
}

describe('A batch of changes', () => {
  test('is in the folder and in the log, each change with its own outcome', async () => {
    const { id, path } = await makeWorkspace();
    await send(id, [{ path: 'old', operation: 'create', content: 'old' }]);
    const { status, body } = await send(id, [
      { path: 'a/b.txt', operation: 'create', baseHash: null, content: 'text', opId: 'o1' },
      { path: 'run', operation: 'create', content: 'AAH/', encoding: 'base64', executable: true },
      { path: '../out', operation: 'create', content: 'x' },
      { path: 'A/b.txt', operation: 'create', content: 'x' },
      { path: 'old', operation: 'delete', baseHash: sha256('old') },
      { path: 'gone', operation: 'delete' },
      { path: 'a/b.txt', operation: 'update', baseHash: sha256('other'), content: 'mine' },
      { path: 'a/b.txt', operation: 'update', baseHash: null, content: 'x', strict: true },
    ]);
    expect(status).toBe(200);
    expect(body.results).toMatchObject([
      { path: 'a/b.txt', opId: 'o1', outcome: 'applied', file: { hash: sha256('text'), size: 4 } },
      { outcome: 'applied', file: { executable: true, size: 3 } },
      { outcome: 'refused', error: { code: 'PATH_INVALID' } },
      { outcome: 'refused', error: { code: 'PATH_COLLISION' } },
      { outcome: 'applied' },
      { outcome: 'unchanged' },
      { outcome: 'conflict', file: { hash: sha256('text') }, conflictCopy: { size: 4 } },
      { outcome: 'refused', error: { code: 'PRECONDITION_FAILED' } },
    ]);
    expect(body.lastSeq).toBe(5);
    expect(await readFile(join(path, 'a/b.txt'), 'utf8')).toBe('text');
    expect([...(await readFile(join(path, 'run')))]).toEqual([0, 1, 255]);
    const again = await send(id, [
      { path: 'a/b.txt', operation: 'create', baseHash: null, content: 'text', opId: 'o1' },
    ]);
    expect(again.body).toMatchObject({ results: [{ outcome: 'applied' }], lastSeq: 5 });
  });

  test('is refused by the name of what is in its way, a file and a folder too, and leaves no folder', async () => {
    const { id, path } = await makeWorkspace();
    const { body } = await send(id, [
      { path: 'a/b.txt', operation: 'create', content: 'x' },
      { path: 'a', operation: 'create', content: 'x' },
      { path: 'a/b.txt/c', operation: 'create', content: 'x' },
      { path: 'A/c.txt', operation: 'create', content: 'x' },
    ]);
    const other = 'a/b.txt';
    expect(body.results).toMatchObject([
      { outcome: 'applied' },
      { error: { code: 'PATH_COLLISION', details: { path: 'a', other } } },
      { error: { code: 'PATH_COLLISION', details: { path: 'a/b.txt/c', other } } },
      { error: { code: 'PATH_COLLISION', details: { path: 'A/c.txt', other } } },
    ]);
    expect(await readdir(path)).toEqual(['.ennead', 'a']);
  });

  test('refuses an item that says too little alone', async () => {
    const { id } = await makeWorkspace();
    const { status, body } = await send(id, [
      { path: 'first', operation: 'create', content: '1' },
      { path: 'empty', operation: 'create' },
      { path: 'last', operation: 'create', content: '2' },
    ]);
    expect(status).toBe(200);
    expect(body.results).toMatchObject([
      { path: 'first', outcome: 'applied' },
      { path: 'empty', outcome: 'refused', error: { code: 'VALIDATION_ERROR' } },
      { path: 'last', outcome: 'applied' },
    ]);
    const alone = await send(id, [{ path: 'empty', operation: 'create' }]);
    expect(alone.body.results).toMatchObject([{ outcome: 'refused' }]);
  });

  test('of a thousand files is stored whole, and its changes have no gaps', async () => {
    const { id, path } = await makeWorkspace();
    const changes = Array.from({ length: 1_000 }, (_, index) => ({
      path: `folder-${index % 10}/file-${index}`,
      operation: 'create',
      baseHash: null,
      content: `content ${index}`,
    }));
    const { body } = await send(id, changes);
    expect(new Set(body.results.map((one: { outcome: string }) => one.outcome))).toEqual(
      new Set(['applied']),
    );
    expect(body.lastSeq).toBe(1_000);
    expect(await readFile(join(path, 'folder-9/file-999'), 'utf8')).toBe('content 999');
    const seen: string[] = [];
    for (let after = ''; ;) {
      const query = `workspaceId=${id}&limit=300&after=${after}`;
      const page = (await ada('GET', `${base}/snapshot?${query}`)).body;
      seen.push(...page.files.map((file: { path: string }) => file.path));
      expect(page.lastSeq).toBe(1_000);
      if (page.next === undefined) break;
      after = page.next;
    }
    expect(new Set(seen).size).toBe(1_000);
    const forced = await ada('POST', `${base}/force`, { workspaceId: id });
    expect(forced.body.workspaces).toMatchObject([{ changed: 0, files: 1_000 }]);
  });

  test('names contents that were sent before, and is told which are missing', async () => {
    const { id } = await makeWorkspace();
    const wanted = { path: 'large', operation: 'create', baseHash: null, hash: sha256('large') };
    const first = await send(id, [wanted]);
    expect(first.body).toMatchObject({ results: [{ outcome: 'missing' }], missing: [wanted.hash] });
    expect(await putBlob(id, 'large')).toMatchObject({ status: 201, body: { size: 5 } });
    expect(await putBlob(id, 'large')).toMatchObject({ status: 200 });
    expect((await send(id, [wanted])).body).toMatchObject({
      results: [{ outcome: 'applied' }],
      missing: [],
    });
    expect(await studio.database.query('select 1 from studio.uploads')).toEqual([]);
  });

  test('takes no more than the quota, however many come at once', async () => {
    const { id } = await makeWorkspace({ settings: { quotaBytes: 50 } });
    const batches = Array.from({ length: 8 }, (_, batch) =>
      send(
        id,
        Array.from({ length: 5 }, (__, index) => ({
          path: `file-${batch}-${index}`,
          operation: 'create',
          content: '1234567890',
        })),
      ),
    );
    const results = (await Promise.all(batches)).flatMap(({ body }) => body.results);
    const outcomes = results.map((one: { outcome: string }) => one.outcome);
    expect(outcomes.filter((one) => one === 'applied')).toHaveLength(5);
    expect(outcomes.filter((one) => one === 'refused')).toHaveLength(35);
    const status = await ada('GET', `${base}/status?workspaceId=${id}`);
    expect(status.body.workspaces[0].usedBytes).toBe(50);
  });

  test('of two devices that change the same files keeps both contents of each', async () => {
    const { id } = await makeWorkspace();
    const paths = Array.from({ length: 20 }, (_, index) => `file-${index}`);
    const by = (device: string) =>
      send(
        id,
        paths.map((path) => ({
          path,
          operation: 'create',
          baseHash: null,
          content: `${path} by ${device}`,
        })),
        device,
      );
    await Promise.all([by('one'), by('two')]);
    const { files } = (await ada('GET', `${base}/snapshot?workspaceId=${id}`)).body;
    const hashes = new Set(files.map((file: { hash: string }) => file.hash));
    for (const path of paths) {
      for (const device of ['one', 'two']) {
        expect(hashes.has(sha256(`${path} by ${device}`))).toBe(true);
      }
    }
    expect(files).toHaveLength(40);
  });
});

describe('A content', () => {
  test('that is not what its hash says, is too large or has no room leaves nothing', async () => {
    const { id, path } = await makeWorkspace({ settings: { quotaBytes: 500 } });
    const before = await countBlobs(path);
    const wrong = { hash: sha256('other') };
    expect(await putBlob(id, 'content', wrong)).toMatchObject({
      status: 400,
      code: 'HASH_MISMATCH',
    });
    const large = 'x'.repeat(600_001);
    expect(await putBlob(id, large)).toMatchObject({ status: 413, code: 'FILE_TOO_LARGE' });
    const beyond = 'y'.repeat(501);
    expect(await putBlob(id, beyond)).toMatchObject({ status: 413, code: 'QUOTA_EXCEEDED' });
    expect(await countBlobs(path)).toBe(before);
  });

  test('of one workspace is not to be had in another by its hash', async () => {
    const [one, other] = [await makeWorkspace(), await makeWorkspace()];
    await putBlob(one.id, 'secret of one');
    const hash = sha256('secret of one');
    const got = await ada('GET', `${base}/blobs/${hash}?workspaceId=${other.id}`);
    expect([got.status, got.body.error.code]).toEqual([404, 'CONTENT_MISSING']);
    const stolen = await send(other.id, [{ path: 'stolen', operation: 'create', hash }]);
    expect(stolen.body.results).toMatchObject([{ outcome: 'missing' }]);
    const asked = { workspaceId: other.id, hashes: [hash] };
    const many = await ada('POST', `${base}/contents`, asked);
    expect(many.body).toEqual({ contents: [], missing: [hash], left: [] });
  });

  test('comes with many others, as text where it is text', async () => {
    const { id } = await makeWorkspace();
    await send(id, [
      { path: 'text', operation: 'create', content: 'grün' },
      { path: 'bytes', operation: 'create', content: '/wA=', encoding: 'base64' },
    ]);
    const bytes = sha256(Buffer.from([255, 0]));
    const large = 'z'.repeat(300_000);
    await putBlob(id, large);
    const hashes = [sha256('grün'), bytes, sha256(large), sha256('none')];
    const { body } = await ada('POST', `${base}/contents`, { workspaceId: id, hashes });
    expect(body).toEqual({
      contents: [
        { hash: sha256('grün'), content: 'grün', encoding: 'utf8' },
        { hash: bytes, content: '/wA=', encoding: 'base64' },
      ],
      missing: [sha256('none')],
      left: [sha256(large)],
    });
  });
});

describe('The role', () => {
  const members = ['Admin', 'Developer', 'Reviewer', 'Viewer', 'Guest'].map((role) => ({
    userId: `usr_${role.toLowerCase()}`,
    role,
  }));

  test.each([
    ['Admin', 200, 200],
    ['Developer', 200, 200],
    ['Reviewer', 403, 200],
    ['Viewer', 403, 200],
    ['Guest', 403, 403],
    ['Nobody', 404, 404],
  ])('%s gets %i for what writes and %i for what reads', async (role, writes, reads) => {
    const { id: workspaceId } = await makeWorkspace({ members });
    await send(workspaceId, [{ path: 'a', operation: 'create', content: 'a' }]);
    const subject = `usr_${role.toLowerCase()}`;
    const call = await studio.callAs(subject);
    const files = `/api/v1/workspaces/${workspaceId}/files`;
    const hash = sha256('a');
    const change = { path: 'b', operation: 'create', content: 'b' };
    const device = { workspaceId, deviceId: subject };
    const statusOf = async (method: string, path: string, body?: object) =>
      (await call(method, path, body)).status;
    const written = [
      await statusOf('POST', `${base}/changes`, { ...device, changes: [change] }),
      (await putBlob(workspaceId, 'a', { subject })).status,
      await statusOf('POST', `${files}/a`, { operation: 'copy', to: 'copy' }),
      await statusOf('DELETE', `${files}/copy`),
    ];
    expect(written).toEqual(written.map(() => writes));
    const read = [
      await statusOf('GET', `${base}/snapshot?workspaceId=${workspaceId}`),
      await statusOf('POST', `${base}/contents`, { workspaceId, hashes: [hash] }),
      await statusOf('POST', `${base}/force`, { workspaceId }),
      await statusOf('GET', files),
      await statusOf('GET', `${files}/a?versions=1`),
    ];
    expect(read).toEqual(read.map(() => reads));
  });
});

test('a device belongs to who named it first', async () => {
  const members = [{ userId: 'usr_bob', role: 'Developer' }];
  const { id } = await makeWorkspace({ members });
  const change = { path: 'a', operation: 'create', content: 'a' };
  expect((await send(id, [change], 'phone')).status).toBe(200);
  const bob = await studio.callAs('usr_bob');
  const stolen = { workspaceId: id, deviceId: 'phone', changes: [change] };
  const refused = await bob('POST', `${base}/changes`, stolen);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'DEVICE_TAKEN']);
  const url = `/api/v1/workspaces/${id}/files/a?device=phone`;
  expect((await bob('DELETE', url)).status).toBe(409);
  expect((await send(id, [change], 'disk')).status).toBe(409);
});

test('a quota beyond the service’s own is an administrator’s to give', async () => {
  const settings = { quotaBytes: 2_000_000 };
  const refused = await ada('POST', '/api/v1/workspaces', { name: 'Large', settings });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'QUOTA_REFUSED']);
  const { id } = await makeWorkspace();
  const own = await ada('PUT', `/api/v1/workspaces/${id}`, { settings });
  expect(own.status).toBe(403);
  const root = await studio.callAs('usr_root', ['studio:admin']);
  expect((await root('PUT', `/api/v1/workspaces/${id}`, { settings })).status).toBe(200);
  // What was given stays when something else changes.
  const kept = { settings: { ...settings, model: 'x' } };
  expect((await ada('PUT', `/api/v1/workspaces/${id}`, kept)).status).toBe(200);
});

describe('An opId', () => {
  const codes = (results: { outcome: string; error?: { code: string } }[]) =>
    results.map(({ outcome, error }) => error?.code ?? outcome);
  const make = (path: string, opId: string) => ({
    path,
    operation: 'create',
    baseHash: null,
    content: path,
    opId,
  });

  test('of one device says nothing of the changes of another', async () => {
    const { id, path } = await makeWorkspace();
    await send(id, [make('first', '1')], 'laptop');
    const { body } = await send(id, [make('second', '1')], 'phone');
    expect(codes(body.results)).toEqual(['applied']);
    expect(await readFile(join(path, 'second'), 'utf8')).toBe('second');
  });

  test('that comes again with another change is refused, and the others are applied', async () => {
    const { id, path } = await makeWorkspace();
    const changes = [make('a', '1'), make('b', '1'), make('a', '1'), make('c', '2')];
    const { body } = await send(id, changes);
    expect(codes(body.results)).toEqual(['applied', 'OP_REUSED', 'applied', 'applied']);
    const again = await send(id, [make('d', '1'), { ...make('a', '1'), content: 'other' }]);
    expect(codes(again.body.results)).toEqual(['OP_REUSED', 'OP_REUSED']);
    expect((await readdir(path)).filter((name) => name !== '.ennead').toSorted()).toEqual([
      'a',
      'c',
    ]);
  });

  test('that is no text is refused, and the others are applied', async () => {
    const { id } = await makeWorkspace();
    const { body } = await send(id, [make('a', '\ud800'), make('b', '2')]);
    expect(codes(body.results)).toEqual(['VALIDATION_ERROR', 'applied']);
  });
});

test('A guest has no folder read again by asking for all of them', async () => {
  const { id } = await makeWorkspace({ members: [{ userId: 'usr_guest', role: 'Guest' }] });
  const guest = await studio.callAs('usr_guest');
  expect((await guest('POST', `${base}/force`, { workspaceId: id })).status).toBe(403);
  expect((await guest('POST', `${base}/force`, {})).body.workspaces).toEqual([]);
});
