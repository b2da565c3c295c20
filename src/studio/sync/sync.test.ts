import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startStudio } from '../testing.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;
let ada: Awaited<ReturnType<typeof studio.callAs>>;
const open: WebSocket[] = [];

beforeAll(async () => {
  studio = await startStudio();
  ada = await studio.callAs('usr_ada');
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate();
});
afterAll(() => studio[Symbol.asyncDispose]());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

// Tests read whatever they expect; a wrong expectation fails them.
// oxlint-disable-next-line typescript/no-explicit-any
type Message = any;

/** A device that keeps what it hears. */
async function follow(subject: string, query: Readonly<Record<string, string>> = {}) {
  const token = await studio.tokenOf(subject);
  const search = new URLSearchParams(query).toString();
  const url = `${studio.url.replace('http', 'ws')}/api/v1/sync/stream?${search}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  open.push(socket);
  const heard: Message[] = [];
  // A client gives each message as one Buffer unless told otherwise.
  socket.on('message', (text) => heard.push(JSON.parse((text as Buffer).toString())));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return {
    heard,
    closed,
    say: (message: object) => socket.send(JSON.stringify(message)),
    sayText: (text: string) => socket.send(text),
    ofType: (type: string) => heard.filter((message) => message.type === type),
  };
}

async function makeWorkspace(members: object[] = []): Promise<{ id: string; path: string }> {
  return (await ada('POST', '/api/v1/workspaces', { name: 'Sync', members })).body;
}

async function put(id: string, path: string, content: string, device = 'api'): Promise<void> {
  const token = await studio.tokenOf('usr_ada');
  const url = `${studio.url}/api/v1/workspaces/${id}/files/${path}?device=${device}`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { method: 'PUT', headers, body: content });
  expect(answer.ok, await answer.text()).toBe(true);
}

describe('A device that follows a workspace', () => {
  test('is told of each change with its content, and not of its own', async () => {
    const { id, path } = await makeWorkspace();
    const phone = await follow('usr_ada', { workspaceId: id, deviceId: 'phone', lastSeq: '0' });
    await put(id, 'a.txt', 'by laptop', 'laptop');
    await put(id, 'b.txt', 'by phone', 'phone');
    await writeFile(join(path, 'c.txt'), 'by hand');
    await expect.poll(() => phone.ofType('file_change').length).toBe(2);
    expect(phone.ofType('file_change')).toMatchObject([
      {
        type: 'file_change',
        workspaceId: id,
        deviceId: 'laptop',
        seq: 1,
        timestamp: expect.any(Number),
        data: {
          path: 'a.txt',
          operation: 'create',
          hash: sha256('by laptop'),
          content: 'by laptop',
          encoding: 'utf8',
        },
      },
      { deviceId: 'disk', seq: 3, data: { path: 'c.txt', content: 'by hand' } },
    ]);
  });

  test('goes on where it was, and knows when that is no longer possible', async () => {
    const { id } = await makeWorkspace();
    for (const name of ['1', '2', '3']) await put(id, name, name);
    const late = await follow('usr_ada', { workspaceId: id, deviceId: 'late', lastSeq: '1' });
    await expect.poll(() => late.ofType('file_change').map(({ seq }) => seq)).toEqual([2, 3]);
    late.say({ action: 'subscribe', workspaceId: id, deviceId: 'late', lastSeq: 99, ack: true });
    await expect
      .poll(() => late.ofType('snapshot_required'))
      .toMatchObject([{ data: { lastSeq: 3 } }]);
    await put(id, '4', '4');
    await expect.poll(() => late.ofType('file_change').map(({ seq }) => seq)).toEqual([2, 3, 4]);
  });

  test('sends changes, and learns what came of each', async () => {
    const { id } = await makeWorkspace();
    const one = await follow('usr_ada', { workspaceId: id, deviceId: 'one' });
    const two = await follow('usr_ada', { workspaceId: id, deviceId: 'two' });
    const wanted = { action: 'change', path: 'shared', operation: 'create', baseHash: null };
    one.say({ ...wanted, opId: 'o1', content: 'first' });
    await expect
      .poll(() => one.ofType('applied'))
      .toMatchObject([{ seq: 1, data: { opId: 'o1' } }]);
    const content = Buffer.from('second').toString('base64');
    two.say({ ...wanted, opId: 't1', content, encoding: 'base64' });
    await expect
      .poll(() => two.ofType('conflict'))
      .toMatchObject([
        {
          data: {
            opId: 't1',
            file: { path: 'shared', hash: sha256('first') },
            conflictCopy: {
              path: expect.stringMatching(/^shared\.sync-conflict-\d{8}-\d{6}-two$/),
              hash: sha256('second'),
            },
          },
        },
      ]);
    await expect
      .poll(() => one.ofType('file_change'))
      .toMatchObject([{ deviceId: 'two', data: { conflictOf: 'shared', content: 'second' } }]);
    one.say({ action: 'change', path: '../out', operation: 'create', opId: 'o2', content: '' });
    await expect
      .poll(() => one.ofType('error'))
      .toMatchObject([{ error: { code: 'PATH_INVALID', details: { opId: 'o2' } } }]);
  });

  test.each(['lastSeq', 'after'])(
    'gets what came behind %s, which its address or a message says',
    async (name) => {
      const { id: workspaceId } = await makeWorkspace();
      for (const path of ['1', '2', '3']) await put(workspaceId, path, path);
      const device = await follow('usr_ada', { workspaceId, [name]: '1' });
      const seqs = () => device.ofType('file_change').map(({ seq }) => seq);
      await expect.poll(seqs).toEqual([2, 3]);
      device.say({ action: 'subscribe', workspaceId, [name]: 2 });
      await expect.poll(seqs).toEqual([2, 3, 3]);
    },
  );

  test('shows in the status with how far it has come', async () => {
    const { id } = await makeWorkspace();
    for (const name of ['1', '2', '3']) await put(id, name, name);
    const laptop = await follow('usr_ada', { workspaceId: id, deviceId: 'laptop', lastSeq: '0' });
    await expect.poll(() => laptop.ofType('file_change').length).toBe(3);
    laptop.say({ action: 'ack', seq: 2 });
    const status = async () =>
      (await ada('GET', `/api/v1/sync/status?workspaceId=${id}`)).body.workspaces[0];
    await expect.poll(async () => (await status()).devices[0]?.lastSeq).toBe(2);
    expect(await status()).toMatchObject({
      workspaceId: id,
      lastSeq: 3,
      usedBytes: 3,
      devices: [{ deviceId: 'laptop', userId: 'usr_ada', connected: true, pending: 1 }],
    });
    laptop.say({ action: 'ack', seq: 9 });
    await expect.poll(async () => (await status()).devices[0]?.lastSeq).toBe(3);
  });

  test('hears of other devices and of the workspace, until it is no longer a member', async () => {
    const members = [{ userId: 'usr_bob', role: 'Viewer' }];
    const { id } = await makeWorkspace(members);
    const bob = await follow('usr_bob', { workspaceId: id, deviceId: 'bobs' });
    await expect.poll(() => bob.ofType('session_change').length).toBe(1);
    await follow('usr_ada', { workspaceId: id, deviceId: 'adas' });
    await expect
      .poll(() => bob.ofType('session_change').at(-1))
      .toMatchObject({
        deviceId: 'adas',
        data: { deviceId: 'adas', userId: 'usr_ada', connected: true },
      });
    bob.say({ action: 'change', path: 'x', operation: 'create', content: 'x' });
    await expect.poll(() => bob.ofType('error')[0]?.error.code).toBe('INSUFFICIENT_PERMISSIONS');
    await ada('PUT', `/api/v1/workspaces/${id}`, { name: 'Renamed' });
    await expect.poll(() => bob.ofType('state_update').length).toBe(1);
    await ada('PUT', `/api/v1/workspaces/${id}`, { name: 'Again' });
    await expect.poll(() => bob.ofType('state_update').at(-1)?.data.name).toBe('Again');
    expect(bob.ofType('state_update')).toMatchObject([
      { deviceId: 'api', data: { name: 'Renamed' } },
      { deviceId: 'api', data: { name: 'Again' } },
    ]);
    await ada('PUT', `/api/v1/workspaces/${id}`, { members: [] });
    expect(await bob.closed).toBe(1008);
  });
});

test('a workspace of others cannot be followed, and nonsense ends the connection', async () => {
  const { id } = await makeWorkspace();
  const eve = await follow('usr_eve', { workspaceId: id });
  await expect.poll(() => eve.ofType('error')[0]?.error.code).toBe('WORKSPACE_NOT_FOUND');
  for (const text of ['{', '{"action":"dance"}', '[]']) eve.sayText(text);
  expect(await eve.closed).toBe(1007);
});

test('a forced synchronisation finds what nobody saw', async () => {
  const { id, path } = await makeWorkspace();
  await writeFile(join(path, 'found'), 'found');
  const { body } = await ada('POST', '/api/v1/sync/force', { workspaceId: id });
  expect(body.workspaces).toEqual([{ workspaceId: id, changed: 1, files: 1, lastSeq: 1 }]);
});
