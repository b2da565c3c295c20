import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { startTarget, type Target } from '../../kit/egress/testing.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Fault } from '../../kit/errors.ts';
import { TestClient } from '../../kit/sockets/testing.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import type { Batches } from '../batches/batches.ts';
import { openGround } from '../batches/testing.ts';
import { batchRoutes, batchSockets } from '../schemas/batches.ts';
import { triggerRoutes } from '../schemas/triggers.ts';
import { Triggers } from '../triggers/triggers.ts';
import { batchHandlers, batchSocketHandlers } from './batches.ts';
import { triggerHandlers } from './triggers.ts';

const contract = {
  name: 'workflow',
  title: 'Workflow',
  version: '0.1.0',
  description: 'Batches and triggers.',
  error: plainEnvelope.schema,
  routes: { ...batchRoutes, ...triggerRoutes },
  sockets: batchSockets,
} as const satisfies Contract;

// Tests read whatever they expect; a wrong expectation fails them.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any;

let ground: Awaited<ReturnType<typeof openGround>>;
let server: Awaited<ReturnType<typeof createTestServer>>;
let batches: Batches;
let triggers: Triggers;
let target: Target;
let url: string;
let token: string;
let stranger: string;

beforeAll(async () => {
  ground = await openGround();
  target = await startTarget();
  server = await createTestServer(contract);
  const { engine, callbacks, database: sql, plans, sealer, bus } = ground;
  batches = ground.openBatches();
  await batches.start();
  triggers = new Triggers({ sql, engine, plans, sealer, bus, log: silentLog });
  const monitorUrlOf = (id: string) => `ws://test/api/v1/batches/${id}/stream`;
  server.http.serve(contract, {
    ...batchHandlers({
      batches,
      callbacks,
      engine,
      monitorUrlOf,
      requireShown: async () => {},
    }),
    ...triggerHandlers({
      triggers,
      hookUrlOf: (id) => `${url}/api/v1/hooks/${id}`,
      requireWorkflow: (_, { subject }, access) =>
        access === 'change' && subject !== 'usr_a'
          ? Promise.reject(new Fault('forbidden', 'only its owner changes a workflow'))
          : Promise.resolve({ isOwn: subject === 'usr_a' }),
    }),
  });
  server.http.serveSockets(contract, batchSocketHandlers({ batches }));
  url = await listenAnywhere(server.http);
  token = await server.issuer.sign({ sub: 'usr_a', permissions: ['workflow:create'] });
  stranger = await server.issuer.sign({
    sub: 'usr_b',
    permissions: ['workflow:execute', 'workflow:create'],
  });
});

afterAll(async () => {
  await server.http.close(0);
  for (const one of [triggers, batches, ground, target]) await one[Symbol.asyncDispose]();
});

beforeEach(() => {
  ground.engine.verdictOf = () => 'completed';
  target.arrivals.length = 0;
});

async function call(method: string, path: string, options: Answer = {}): Promise<Answer> {
  const { body, as = token, headers = {} } = options;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(as ? { authorization: `Bearer ${as}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function startBatch(count: number, options: object = {}): Promise<Answer> {
  const inputs = Array.from({ length: count }, (_, n) => ({ n }));
  const { status, body } = await call('POST', '/api/v1/workflows/wfl_1/batch', {
    body: { inputs, options },
  });
  expect(status).toBe(202);
  return body;
}

const read = async (id: string) => (await call('GET', `/api/v1/batches/${id}`)).body;

describe('a batch request is refused', () => {
  test.each([
    ['no inputs', { inputs: [] }, 400],
    ['inputs that are no objects', { inputs: [1] }, 400],
    ['no concurrency', { inputs: [{}], options: { concurrency: 0 } }, 400],
    ['too much concurrency', { inputs: [{}], options: { concurrency: 51 } }, 400],
    ['an unknown failure mode', { inputs: [{}], options: { failureMode: 'explode' } }, 400],
    ['a private address', { inputs: [{}], options: { progressCallback: 'http://10.0.0.1/' } }, 403],
    ['what is no address', { inputs: [{}], options: { progressCallback: 'file:///etc' } }, 400],
    ['more than 10,000 items', { inputs: Array.from({ length: 10_001 }, () => ({})) }, 400],
  ])('with %s', async (_, body, expected) => {
    const { status } = await call('POST', '/api/v1/workflows/wfl_1/batch', { body });
    expect(status).toBe(expected);
  });

  test('without a token or permission, and for a workflow that is not there', async () => {
    const body = { inputs: [{}] };
    const path = '/api/v1/workflows/wfl_1/batch';
    expect((await call('POST', path, { body, as: '' })).status).toBe(401);
    const reader = await server.issuer.sign({ sub: 'usr_c', permissions: ['workflow:read'] });
    expect((await call('POST', path, { body, as: reader })).status).toBe(403);
    const gone = await call('POST', '/api/v1/workflows/nope/batch', { body });
    expect(gone).toMatchObject({ status: 404, body: { error: { code: 'WORKFLOW_NOT_FOUND' } } });
  });
});

describe('a batch', () => {
  test('is answered at once, and is nobody else’s', async () => {
    const batch = await startBatch(3, { concurrency: 2 });
    expect(batch).toMatchObject({
      batchId: expect.stringMatching(/^bat_/),
      totalItems: 3,
      status: 'processing',
      progress: { completed: 0, failed: 0, pending: 3 },
      monitorUrl: `ws://test/api/v1/batches/${batch.batchId}/stream`,
    });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/items'],
      ['GET', '/callbacks'],
      ['POST', '/cancel'],
      ['POST', '/resume'],
    ] as const) {
      const answer = await call(method, `/api/v1/batches/${batch.batchId}${path}`, {
        as: stranger,
      });
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'BATCH_NOT_FOUND' } } });
    }
    const socket = new TestClient(`${url}/api/v1/batches/${batch.batchId}/stream`, {
      headers: { authorization: `Bearer ${stranger}` },
    });
    expect((await socket.refused()).status).toBe(404);
  });

  test('is followed from its start to its end, item by item, and again', async () => {
    ground.engine.verdictOf = (_, index) => (index === 1 ? 'failed' : 'completed');
    const { batchId } = await startBatch(4, { concurrency: 1 });
    const first = await follow(batchId);
    const items = first.filter(({ type }) => type.startsWith('item-'));
    expect(items.map(({ type, index, seq }) => [type, index, seq])).toEqual([
      ['item-completed', 0, 1],
      ['item-failed', 1, 2],
      ['item-completed', 2, 3],
      ['item-completed', 3, 4],
    ]);
    expect(items[1]).toMatchObject({
      executionId: expect.stringMatching(/^exe_/),
      error: { code: 'BROKEN', nodeId: 'n' },
    });
    expect(first.at(-1)).toMatchObject({
      type: 'batch-completed',
      status: 'completed',
      progress: { completed: 3, failed: 1, pending: 0 },
      seq: 5,
    });
    const again = await follow(batchId, '?after=3');
    expect(again.map(({ type, seq }) => [type, seq])).toEqual([
      ['item-completed', 4],
      ['batch-completed', 5],
    ]);
  });

  test('of many items is followed live without a gap', async () => {
    const { batchId } = await startBatch(700, { concurrency: 50 });
    const events = await follow(batchId);
    const seqs = events.filter(({ type }) => type === 'item-completed').map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 700 }, (_, at) => at + 1));
    const { body } = await call('GET', `/api/v1/batches/${batchId}/items?limit=2&offset=698`);
    expect(body).toMatchObject({ total: 700, limit: 2, offset: 698 });
    expect(body.items.map(({ index }: Answer) => index)).toEqual([698, 699]);
  });

  test('tells its callback the end last, signed, and shows what was delivered', async () => {
    const { batchId } = await startBatch(5, { progressCallback: `${target.origin}/hook` });
    await vi.waitFor(async () => expect((await read(batchId)).status).toBe('completed'));
    await vi.waitFor(() =>
      expect(target.arrivals.at(-1)?.headers['x-ennead-event']).toBe('batch.ended'),
    );
    const last = target.arrivals.at(-1);
    expect(JSON.parse(last?.body ?? '')).toMatchObject({
      batchId,
      status: 'completed',
      progress: { completed: 5, pending: 0 },
    });
    expect(last?.headers['x-ennead-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    await vi.waitFor(async () => {
      const { body } = await call('GET', `/api/v1/batches/${batchId}/callbacks`);
      expect(body.callbacks.at(-1)).toMatchObject({
        event: 'batch.ended',
        status: 'delivered',
        answer: 200,
        origin: target.origin,
      });
    });
  });

  test('is cancelled and resumed', async () => {
    ground.engine.verdictOf = () => 'hold';
    const { batchId } = await startBatch(3);
    const cancelled = await call('POST', `/api/v1/batches/${batchId}/cancel`);
    expect(cancelled).toMatchObject({
      status: 200,
      body: { status: 'cancelled', progress: { cancelled: 3, pending: 0 } },
    });
    ground.engine.verdictOf = () => 'completed';
    const resumed = await call('POST', `/api/v1/batches/${batchId}/resume`);
    expect(resumed).toMatchObject({ status: 202, body: { status: 'processing' } });
    await vi.waitFor(async () => expect((await read(batchId)).progress.completed).toBe(3));
  });

  test('closes a stream of malformed messages', async () => {
    ground.engine.verdictOf = () => 'hold';
    const { batchId } = await startBatch(1);
    const client = new TestClient(`${url}/api/v1/batches/${batchId}/stream`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await client.opened();
    for (let count = 0; count < 3; count += 1) client.socket.send('{"action":"dance"}');
    expect((await client.closed()).code).toBe(1007);
    await call('POST', `/api/v1/batches/${batchId}/cancel`);
  });
});

test('the callbacks of an execution are shown to its owner alone', async () => {
  const { id } = await ground.engine.start({
    workflowId: 'wfl_1',
    inputs: {},
    ownerId: 'usr_a',
    trigger: 'api',
  });
  const path = `/api/v1/executions/${id}/callbacks`;
  expect(await call('GET', path)).toEqual({ status: 200, body: { callbacks: [] } });
  expect((await call('GET', path, { as: stranger })).status).toBe(404);
});

describe('triggers', () => {
  const list = '/api/v1/workflows/wfl_1/triggers';

  test('are made, shown, changed and deleted by the workflow’s owner', async () => {
    const made = await call('POST', list, {
      body: { type: 'schedule', cron: '0 9 * * 1', timeZone: 'Europe/Berlin', inputs: { a: 1 } },
    });
    expect(made).toMatchObject({ status: 201, body: { type: 'schedule', enabled: true } });
    expect(made.body.nextRuns).toHaveLength(5);
    const path = `${list}/${made.body.id}`;
    expect((await call('DELETE', path, { as: stranger })).status).toBe(403);
    expect((await call('GET', `/api/v1/workflows/wfl_2/triggers/${made.body.id}`)).status).toBe(
      404,
    );
    const changed = await call('PATCH', path, { body: { enabled: false, name: 'weekly' } });
    expect(changed.body).toMatchObject({ enabled: false, name: 'weekly', cron: '0 9 * * 1' });
    expect(changed.body.nextRuns).toBeUndefined();
    expect((await call('GET', list)).body).toMatchObject({ total: 1 });
    expect((await call('DELETE', path)).body).toEqual({ id: made.body.id, deleted: true });
    expect((await call('GET', path)).status).toBe(404);
  });

  test('a hook is called without a token, by its secret, and answers or waits', async () => {
    const made = await call('POST', list, {
      body: { type: 'webhook', inputs: { who: '{{ body.who }}' } },
    });
    const { hookUrl, secret, id } = made.body;
    const { body: shown } = await call('GET', `${list}/${id}`);
    expect(shown.secret).toBeUndefined();
    const path = hookUrl.slice(url.length);
    const body = { who: 'ada' };
    const denied = await call('POST', path, { as: '', body });
    expect(denied).toMatchObject({ status: 401, body: { error: { code: 'BAD_WEBHOOK_SECRET' } } });
    const headers = { 'x-webhook-secret': secret, 'idempotency-key': 'k1' };
    const accepted = await call('POST', path, { as: '', body, headers });
    expect(accepted).toMatchObject({
      status: 202,
      body: { executionId: expect.stringMatching(/^exe_/) },
    });
    const waited = await call('POST', `${path}?wait=true`, { as: '', body, headers });
    expect(waited).toMatchObject({
      status: 200,
      body: { executionId: accepted.body.executionId, status: 'completed', result: {} },
    });
    expect((await call('GET', path, { as: '', headers })).status).toBe(405);
    const { body: history } = await call('GET', `${list}/${id}/firings`);
    expect(history).toMatchObject({
      total: 1,
      firings: [{ status: 'started', key: 'k1', executionId: accepted.body.executionId }],
    });
    const nobody = '/api/v1/hooks/trg_00000000000000000000000000000000';
    expect((await call('POST', nobody, { as: '', body })).status).toBe(404);
  });
});

async function follow(batchId: string, query = ''): Promise<Answer[]> {
  const client = new TestClient(`${url}/api/v1/batches/${batchId}/stream${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const events: Answer[] = [];
  do events.push(await client.next());
  while (events.at(-1).type !== 'batch-completed');
  expect((await client.closed()).code).toBe(1000);
  return events;
}
