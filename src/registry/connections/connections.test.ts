import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import type { Connection } from './connection.ts';
import { Departures } from './departures.ts';
import { redactEndpoint } from './redaction.ts';
import type { ConnectionRequest } from './request.ts';
import { executor, openGround, startConnections, writer, type Ground } from './testing.ts';

let ground: Ground;
let replica: Awaited<ReturnType<typeof startConnections>>;
let other: Awaited<ReturnType<typeof startConnections>>;
let nowMs = Date.now();

beforeAll(async () => {
  ground = await openGround();
  replica = await startConnections(ground, { now: () => nowMs, connectionsMax: 3_000 });
  other = await startConnections(ground, { now: () => nowMs });
});

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await replica[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

let count = 0;

function server(request: Partial<ConnectionRequest> = {}): ConnectionRequest {
  count += 1;
  const endpoint = { url: 'http://127.0.0.1:9/mcp' };
  return { name: `server-${count}`, type: 'server', protocol: 'http', endpoint, ...request };
}

function register(request: Partial<ConnectionRequest> = {}, identity = writer) {
  return replica.connections.register(server(request), identity);
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const fault = await work.then(
    () => undefined,
    (error: unknown) => Fault.from(error),
  );
  return `${fault?.code} ${fault?.reason}`;
}

const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });
const offerOf = (...names: string[]) => ({
  tools: names.map(tool),
  prompts: [],
  resources: [],
  resourceTemplates: [],
});

test('an endpoint must be one of its protocol, and a server needs one', async () => {
  const wrong: Partial<ConnectionRequest>[] = [
    { endpoint: { command: 'node' } },
    { endpoint: { url: 'http://127.0.0.1/', args: ['x'] } },
    { endpoint: {} },
    { endpoint: undefined },
    { endpoint: { url: 'ws://127.0.0.1/' } },
    { endpoint: { url: 'http://user:secret@127.0.0.1/' } },
    { protocol: 'websocket', endpoint: { url: 'http://127.0.0.1/' } },
    { protocol: 'stdio', endpoint: { url: 'http://127.0.0.1/' } },
    { protocol: 'stdio', endpoint: { command: 'node', args: ['a\nb'] } },
    { protocol: 'stdio', endpoint: { command: 'node', env: { NODE_OPTIONS: '--inspect' } } },
    { endpoint: { url: 'http://127.0.0.1/', headers: { host: 'elsewhere' } } },
    { endpoint: { url: 'http://127.0.0.1/', headers: { 'x-a': 'one\r\ntwo' } } },
    { endpoint: { url: 'http://127.0.0.1/', headers: { authorization: '***' } } },
    { metadata: { text: 'x'.repeat(16 * 1024) } },
    { metadata: { half: '\ud800' } },
    { metadata: { deep: [JSON.parse('1e400')] } },
    { name: 'two__parts' },
    { name: '-dash' },
  ];
  for (const request of wrong) {
    expect(await reasonOf(register(request)), JSON.stringify(request)).toMatch(/^invalid /);
  }
});

test.each([
  ['key 🔑', 'holds U+1F511'],
  ['one\ntwo', 'holds U+000A'],
  ['x'.repeat(8_193), 'is longer than 8192 characters'],
])('why a header cannot be sent is said without its value', async (value, why) => {
  const endpoint = { url: 'http://127.0.0.1/', headers: { 'X-Team': value } };
  const refused = expect(register({ endpoint })).rejects;
  await refused.toThrow(`the header "X-Team" ${why}`);
});

test('an address that may not be called is refused before anything is stored', async () => {
  const endpoint = { url: 'http://169.254.169.254/latest' };
  expect(await reasonOf(register({ endpoint }))).toBe('forbidden egress_blocked');
});

test('a name belongs to one connection until that is disconnected', async () => {
  const first = await register({ name: 'shared' });
  expect(await reasonOf(register({ name: 'shared' }))).toBe('conflict name_taken');
  const again = other.connections.register(server({ name: 'shared' }), writer);
  expect(await reasonOf(again)).toBe('conflict name_taken');
  await replica.connections.disconnect(first.id, writer);
  const second = await register({ name: 'shared' });
  const back = replica.connections.update(first.id, { status: 'active' }, writer);
  expect(await reasonOf(back)).toBe('conflict name_taken');
  expect(replica.connections.directory.findByName('shared')?.id).toBe(second.id);
});

test('of two registrations of one name at the same time one is stored', async () => {
  const both = await Promise.allSettled([register({ name: 'race' }), register({ name: 'race' })]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('a connection begins active and unknown, is checked at once and known to other replicas', async () => {
  const connection = await register({ capabilities: ['search', { name: 'read' }, 'search'] });
  expect(connection).toMatchObject({ status: 'active', ownerId: 'usr_writer' });
  expect(connection.health).toEqual({
    status: 'initializing',
    checksPerformed: 0,
    failedChecks: 0,
    failuresInRow: 0,
  });
  expect(replica.checked).toContain(connection.id);
  expect(replica.events.at(-1)).toMatchObject({
    type: 'connection-status',
    connectionId: connection.id,
    status: 'active',
    change: 'registered',
  });
  expect(other.connections.directory.find(connection.id)).toEqual(connection);
  const found = [...other.connections.directory.offering('read')].map(({ id }) => id);
  expect(found).toContain(connection.id);
});

test('secrets lie sealed in the table and are whole in memory, also after a restart', async () => {
  const headers = { authorization: 'Bearer very-secret-value' };
  const { id } = await register({ endpoint: { url: 'http://127.0.0.1:9/', headers } });
  const rows = await ground.sql.query('select * from registry.connections');
  expect(JSON.stringify(rows)).not.toContain('very-secret-value');
  await using later = await startConnections(ground);
  expect(later.connections.directory.find(id)?.endpoint).toMatchObject({ headers });
});

test('*** keeps a value for the same origin only', async () => {
  const headers = { authorization: 'Bearer kept-value' };
  const { id } = await register({ endpoint: { url: 'http://127.0.0.1:9/', headers } });
  const hidden = { authorization: '***' };
  const { connections } = replica;
  const elsewhere = { url: 'http://127.0.0.1:10/', headers: hidden };
  const stolen = connections.update(id, { endpoint: elsewhere }, writer);
  expect(await reasonOf(stolen)).toBe('invalid secret_needed');
  const moved = { url: 'http://127.0.0.1:9/other', headers: hidden };
  const after = await connections.update(id, { endpoint: moved }, writer);
  expect(after.endpoint).toEqual({ url: 'http://127.0.0.1:9/other', headers });
});

test('secrets in arguments and in the query of an address are hidden, and stay over a change', async () => {
  const { connections } = replica;
  const args = ['serve', '--token', 'abc', '--api-key=def', '--port', '80'];
  const stored = await register({ protocol: 'stdio', endpoint: { command: 'node', args } });
  const shown = redactEndpoint(stored);
  expect(shown).toMatchObject({
    args: ['serve', '--token', '***', '--api-key=***', '--port', '80'],
  });
  const again = await connections.update(stored.id, { endpoint: { ...shown } }, writer);
  expect(again.endpoint).toMatchObject({ args });
  const elsewhere = { command: 'sh', args: ['serve', '--token', '***'] };
  const stolen = connections.update(stored.id, { endpoint: elsewhere }, writer);
  expect(await reasonOf(stolen)).toBe('invalid secret_needed');

  const url = 'http://127.0.0.1:9/mcp?api_key=ghi&page=1';
  const remote = await register({ endpoint: { url } });
  const hidden = { url: 'http://127.0.0.1:9/mcp?api_key=***&page=1' };
  expect(redactEndpoint(remote)).toEqual(hidden);
  const same = await connections.update(remote.id, { endpoint: hidden }, writer);
  expect(same.endpoint).toEqual({ url });
  expect(await reasonOf(register({ endpoint: hidden }))).toBe('invalid secret_needed');
});

test('a command runs only after somebody who may execute agreed to it as it is', async () => {
  const request = { protocol: 'stdio', endpoint: { command: 'node', args: ['a.mjs'] } } as const;
  const { connections } = replica;
  const stored = await register(request);
  expect(approvalOf(stored)).toBeUndefined();
  const wrong = connections.approve(stored.id, { command: 'other' }, executor);
  expect(await reasonOf(wrong)).toBe('conflict command_changed');
  const approved = await connections.approve(stored.id, {}, executor);
  expect(approvalOf(approved)).toMatchObject({ approvedBy: 'usr_executor' });
  const changed = await connections.update(
    stored.id,
    { endpoint: { command: 'node', args: ['b.mjs'] } },
    writer,
  );
  expect(approvalOf(changed)).toBeUndefined();
  const variables = { command: 'node', args: ['b.mjs'], env: { MODE: 'x' } };
  await connections.approve(stored.id, {}, executor);
  const varied = await connections.update(stored.id, { endpoint: variables }, writer);
  expect(approvalOf(varied)).toBeUndefined();
  expect(approvalOf(await register(request, executor))).toBeDefined();
});

test('who agrees to a command agrees to the variables that they saw, and to no others', async () => {
  const { connections } = replica;
  const shown = { command: 'node', args: ['a.mjs', '--token', '***'] };
  const endpoint = { command: 'node', args: ['a.mjs', '--token', 'abc'] };
  const env = { MODE: 'plain', API_KEY: 'very-secret' };
  const { id } = await register({ protocol: 'stdio', endpoint });
  await connections.update(id, { endpoint: { ...endpoint, env } }, writer);
  const unseen = [
    shown,
    { args: shown.args },
    { ...shown, env: {} },
    { ...shown, env: { MODE: 'plain' } },
    { ...shown, env: { MODE: 'other', API_KEY: '***' } },
    { ...shown, env: { MODE: '***', API_KEY: '***' } },
    { env: { MODE: 'plain', API_KEY: '***', MORE: 'x' } },
  ];
  for (const agreed of unseen) {
    const refused = connections.approve(id, agreed, executor);
    await expect(refused).rejects.toMatchObject({
      code: 'conflict',
      reason: 'command_changed',
      detail: { changed: ['env'] },
    });
  }
  const seen = { ...shown, env: { MODE: 'plain', API_KEY: '***' } };
  const longer = connections.approve(id, { ...seen, args: [...seen.args, 'x'] }, executor);
  await expect(longer).rejects.toMatchObject({ detail: { changed: ['args'] } });
  expect(approvalOf(await connections.approve(id, seen, executor))).toBeDefined();
});

function approvalOf(connection: Connection) {
  return connection.protocol === 'stdio' ? connection.approval : undefined;
}

test('metadata are merged by key and null removes one', async () => {
  const { id } = await register({ metadata: { team: 'one', tier: 2 } });
  const after = await replica.connections.update(
    id,
    { metadata: { tier: null, zone: 'b' } },
    writer,
  );
  expect(after.metadata).toEqual({ team: 'one', zone: 'b' });
});

test('changes of two replicas at the same time are both kept', async () => {
  const { id } = await register();
  await Promise.all(
    Array.from({ length: 10 }, (_, at) => {
      const { connections } = at % 2 === 0 ? replica : other;
      return connections.update(id, { metadata: { [`key${at}`]: at } }, writer);
    }),
  );
  const keys = Object.keys(replica.connections.directory.find(id)?.metadata ?? {});
  expect(keys).toHaveLength(10);
  expect(other.connections.directory.find(id)).toEqual(replica.connections.directory.find(id));
});

test('a change is not lost to a replica that heard of newer checks and not of it', async () => {
  await using ownBus = await openBus({ log: silentLog });
  await using alone = await startConnections({ ...ground, bus: ownBus });
  const { id, status } = await register();
  const health = {
    status: 'healthy',
    checksPerformed: 1,
    failedChecks: 0,
    failuresInRow: 0,
  } as const;
  await alone.connections.get(id);
  await replica.connections.update(id, { metadata: { here: 1 } }, writer);
  await alone.connections.notes.noteHealth([{ id, status, health }]);
  const { metadata } = await alone.connections.update(id, { metadata: { there: 2 } }, writer);
  expect(metadata).toEqual({ here: 1, there: 2 });
});

test('disconnecting twice changes nothing the second time', async () => {
  const { id } = await register();
  const first = await replica.connections.disconnect(id, writer);
  nowMs += 1_000;
  const second = await other.connections.disconnect(id, writer);
  expect(first.status).toBe('disconnected');
  expect(second.disconnectedAtMs).toBe(first.disconnectedAtMs);
  const { entries } = await replica.connections.history(id, { limit: 10, offset: 0 });
  expect(entries.map(({ change }) => change)).toEqual(['disconnected', 'registered']);
});

test('notes about a disconnected connection are dropped', async () => {
  const { id } = await register();
  await replica.connections.disconnect(id, writer);
  const health = {
    status: 'healthy',
    checksPerformed: 1,
    failedChecks: 0,
    failuresInRow: 0,
  } as const;
  await replica.connections.notes.noteHealth([{ id, status: 'active', health }]);
  await replica.connections.notes.noteLearned(id, { offer: offerOf('late') });
  const after = replica.connections.directory.find(id);
  expect(after).toMatchObject({ status: 'disconnected', health: { status: 'initializing' } });
  expect([...replica.connections.directory.offering('late')]).toEqual([]);
});

test('a check moves a connection to error and back, and never ends its idleness', async () => {
  const { id } = await register();
  const { notes, directory } = replica.connections;
  const failed = {
    status: 'error',
    reason: 'timeout',
    checksPerformed: 3,
    failedChecks: 3,
  } as const;
  await notes.noteHealth([{ id, status: 'error', health: { ...failed, failuresInRow: 3 } }]);
  expect(directory.find(id)?.status).toBe('error');
  expect(replica.events.at(-1)).toMatchObject({ status: 'error', reason: 'timeout' });
  const well = {
    status: 'healthy',
    checksPerformed: 4,
    failedChecks: 3,
    failuresInRow: 0,
  } as const;
  await notes.noteHealth([{ id, status: 'active', health: well }]);
  expect(directory.find(id)?.status).toBe('active');
  await replica.connections.update(id, { status: 'idle' }, writer);
  await notes.noteHealth([{ id, status: 'active', health: well }]);
  expect(directory.find(id)?.status).toBe('idle');
  const { entries } = await replica.connections.history(id, { limit: 10, offset: 0 });
  const moves = entries.map(({ change, after }) => `${change} ${after}`);
  expect(moves.toSorted()).toEqual(
    [
      'registered active',
      'health error',
      'status error',
      'health healthy',
      'status active',
      'status idle',
    ].toSorted(),
  );
});

test('a connection without requests becomes idle, and a request makes it active at once', async () => {
  const { id } = await register();
  const busy = await register();
  nowMs += 299_000;
  expect(replica.connections.notes.noteActive(busy.id)).toBeUndefined();
  nowMs += 2_000;
  await replica.connections.sweep();
  const { directory } = other.connections;
  expect(directory.find(id)?.status).toBe('idle');
  expect(directory.find(busy.id)?.status).toBe('active');
  await replica.connections.notes.noteActive(id);
  expect(replica.connections.directory.find(id)?.status).toBe('active');
  await expect.poll(() => directory.find(id)?.status).toBe('active');
  expect(replica.events.at(-1)).toMatchObject({
    connectionId: id,
    status: 'active',
    reason: 'request',
  });
});

test('what a server tells is found by capability, kept over a restart and noted in the history', async () => {
  const { id } = await register({ capabilities: ['declared'] });
  const offer = offerOf('zeta', 'alpha');
  await replica.connections.notes.noteLearned(id, { offer, quarantined: ['alpha'] });
  const names = other.connections.directory.namesOf(id);
  expect(names).toEqual(['declared', 'zeta', 'alpha']);
  await using later = await startConnections(ground);
  expect(later.connections.directory.find(id)).toMatchObject({ offer, quarantined: ['alpha'] });
  await replica.connections.notes.noteLearned(id, { offer: offerOf('zeta') });
  expect([...other.connections.directory.offering('alpha')]).toEqual([]);
  const { entries } = await replica.connections.history(id, { limit: 1, offset: 0 });
  expect(entries[0]).toMatchObject({ change: 'tools', detail: { removed: ['alpha'], count: 1 } });
});

test('another address forgets what was learned of the one before; other headers do not', async () => {
  const { id } = await register();
  await replica.connections.notes.noteLearned(id, { offer: offerOf('one') });
  const headers = { 'x-key': 'value' };
  const same = { url: 'http://127.0.0.1:9/mcp', headers };
  const kept = await replica.connections.update(id, { endpoint: same }, writer);
  expect(kept.offer?.tools).toHaveLength(1);
  const endpoint = { url: 'http://127.0.0.1:9/other' };
  const moved = await replica.connections.update(id, { endpoint }, writer);
  expect(moved.offer).toBeUndefined();
  expect(moved.health.status).toBe('initializing');
});

test('an offer too large for the bus reaches other replicas from the table', async () => {
  const { id } = await register();
  const large = { ...tool('large'), description: 'x'.repeat(600_000) };
  await replica.connections.notes.noteLearned(id, { offer: { ...offerOf(), tools: [large] } });
  await expect.poll(() => other.connections.directory.namesOf(id)).toEqual(['large']);
});

test('text that no database stores does not stop what a server tells', async () => {
  const { id } = await register();
  const odd = { ...tool('odd'), description: 'half \ud83d and nul \u0000' };
  await replica.connections.notes.noteLearned(id, { offer: { ...offerOf(), tools: [odd] } });
  const learned = replica.connections.directory.find(id)?.offer?.tools[0];
  expect(learned?.description).toBe('half \ufffd and nul \ufffd');
});

test('a thousand registrations at once take few statements, and no more than allowed are taken', async () => {
  const before = replica.connections.directory.openCount;
  const all = await Promise.all(Array.from({ length: 1_000 }, () => register()));
  expect(new Set(all.map(({ id }) => id)).size).toBe(1_000);
  expect(other.connections.directory.openCount).toBe(before + 1_000);
  await using small = await startConnections(ground, { connectionsMax: before + 1_000 });
  const refused = small.connections.register(server(), writer);
  expect(await reasonOf(refused)).toMatch(/^exhausted/);
});

test('an unknown id is not found, whatever it looks like', async () => {
  for (const id of ['con_00000000000000000000000000000000', 'x', "'; drop table x"]) {
    expect(await reasonOf(replica.connections.get(id))).toBe('not_found connection_not_found');
  }
});

test('connections that end together are stored together, each with who ended it', async () => {
  const ids = await Promise.all(Array.from({ length: 50 }, async () => (await register()).id));
  let statements = 0;
  const departures = new Departures({
    sql: {
      query: (...given) => {
        statements += 1;
        return ground.sql.query(...given);
      },
    },
    onStored: () => {},
  });
  await Promise.all(ids.slice(0, 25).map((id) => departures.add({ id, by: 'usr_a', atMs: 1 })));
  expect(statements).toBe(1);
  await departures[Symbol.asyncDispose]();
  const rest = ids.slice(25);
  const twice = [...rest, ...rest].map((id) => replica.connections.disconnect(id, writer));
  const ended = await Promise.all(twice);
  expect(ended.every(({ status }) => status === 'disconnected')).toBe(true);
  const { entries } = await replica.connections.history(rest[0] ?? '', { limit: 10, offset: 0 });
  expect(entries.filter(({ change }) => change === 'disconnected')).toMatchObject([
    { by: writer.subject, before: 'active', after: 'disconnected' },
  ]);
});
