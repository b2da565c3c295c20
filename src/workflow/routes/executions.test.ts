import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Fault } from '../../kit/errors.ts';
import { openSealer } from '../../kit/secrets/sealing.ts';
import { TestClient } from '../../kit/sockets/testing.ts';
import { createTestServer, listenAnywhere } from '../../kit/testing.ts';
import { createSubWorkflow } from '../components/logic/sub-workflow.ts';
import { Approvals } from '../engine/approvals.ts';
import type { WorkflowEngine } from '../engine/engine.ts';
import {
  makeComponent,
  makePlan,
  openEngineGround,
  openTestEngine,
  startOf,
  type EngineGround,
} from '../engine/testing.ts';
import { executionRoutes, executionSockets } from '../schemas/executions.ts';
import { executionHandlers, executionSocketHandlers } from './executions.ts';

const contract = {
  name: 'workflow',
  title: 'Executions',
  version: '0.1.0',
  description: 'Executions for tests.',
  error: plainEnvelope.schema,
  routes: executionRoutes,
  sockets: executionSockets,
} as const satisfies Contract;

let ground: EngineGround;
let engine: WorkflowEngine;
let approvals: Approvals;
let folder: string;
let url: string;
let server: Awaited<ReturnType<typeof createTestServer>>;

beforeAll(async () => {
  ground = await openEngineGround();
  ({ engine } = await openTestEngine(ground));
  folder = await mkdtemp(join(tmpdir(), 'ennead-approvals-'));
  const sealer = await openSealer({ folder, mayCreate: true });
  server = await createTestServer(contract);
  approvals = new Approvals({ engine, sealer, baseUrl: 'http://workflow.test' });
  const parts = { engine, approvals, baseUrl: 'http://workflow.test' };
  server.http.serve(contract, executionHandlers(parts));
  server.http.serveSockets(contract, executionSocketHandlers(engine));
  url = await listenAnywhere(server.http);
  const noop = makeComponent('NoOp');
  const ask = makeComponent('Approval', {
    run: (_data, { executionId, nodeId, iteration }) => {
      const expiresAtMs = Date.now() + 60_000;
      const link = approvals.linkOf({ executionId, nodeId, iteration, expiresAtMs });
      const detail = { message: '<b>Ship it?</b>', link };
      return { kind: 'parked', reason: 'approval', detail };
    },
  });
  const guarded = makeComponent('Approval', {
    run: () => ({ kind: 'parked', reason: 'approval', detail: { approvers: ['usr_boss'] } }),
  });
  ground.plans.set('ask', makePlan({ nodes: { q: ask, z: noop }, edges: ['q:approved>z'] }));
  ground.plans.set('guarded', makePlan({ nodes: { q: guarded }, edges: [] }));
  ground.plans.set('plain', makePlan({ nodes: { a: noop, b: noop }, edges: ['a>b'] }));
});
afterAll(async () => {
  await server.http.close(0);
  await engine[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const all = ['workflow:execute', 'workflow:read'];

async function call(
  path: string,
  {
    method = 'GET',
    body,
    sub = 'usr_test',
    permissions = all,
    accept,
  }: {
    method?: string;
    body?: unknown;
    sub?: string;
    permissions?: string[];
    accept?: string;
  } = {},
) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${await server.issuer.sign({ sub, permissions })}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read whatever they expect
  const answer: any = isJson ? JSON.parse(text) : text;
  return { status: response.status, body: answer };
}

async function startWaiting(workflowId: string): Promise<string> {
  const { id } = await engine.start(startOf(workflowId));
  await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
  return id;
}

async function startEnded(): Promise<string> {
  const { id } = await engine.start(startOf('plain'));
  await engine.wait(id, { timeoutMs: 5_000 });
  return id;
}

describe('an execution of somebody else', () => {
  it('is not there, whatever is asked of it', async () => {
    const id = await startEnded();
    const path = `/api/v1/executions/${id}`;
    const rest = { sub: 'usr_other' };
    for (const answer of [
      await call(path, rest),
      await call(`${path}/cancel`, { ...rest, method: 'POST' }),
      await call(`${path}/resume`, { ...rest, method: 'POST' }),
      await call(`${path}/rerun`, { ...rest, method: 'POST', body: { fromNode: 'a' } }),
      await call(`${path}/approvals/a`, { ...rest, method: 'POST', body: { approved: true } }),
    ]) {
      expect(answer.status).toBe(404);
      expect(JSON.stringify(answer.body)).toContain('EXECUTION_NOT_FOUND');
    }
    const token = await server.issuer.sign(rest.sub ? { sub: rest.sub, permissions: all } : {});
    const client = new TestClient(`${url}${path}/stream?access_token=${token}`);
    expect(await client.refused()).toMatchObject({ status: 404 });
    expect((await call('/api/v1/executions', rest)).body.total).toBe(0);
    const admin = { sub: 'usr_admin', permissions: ['workflow:*'] };
    expect((await call(path, admin)).status).toBe(200);
  });

  it('cannot be cancelled by who may only read', async () => {
    const id = await startEnded();
    const permissions = ['workflow:read'];
    const answer = await call(`/api/v1/executions/${id}/cancel`, { method: 'POST', permissions });
    expect(answer.status).toBe(403);
  });
});

describe('an approval', () => {
  it('by a link is shown without being decided, taken once, and refused afterwards', async () => {
    const id = await startWaiting('ask');
    const { body } = await call(`/api/v1/executions/${id}`);
    expect(body).toMatchObject({ status: 'running', nodes: [{ nodeId: 'q', status: 'waiting' }] });
    const path = new URL(body.nodes[0].detail.link).pathname;
    const page = await fetch(url + path, { headers: { accept: 'text/html' } });
    const text = await page.text();
    expect(text).toContain('&lt;b&gt;Ship it?');
    expect(text).not.toContain('<b>Ship');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await call(path)).body).toMatchObject({ isOpen: true, nodeId: 'q' });
    const form = new URLSearchParams({ approved: 'true', comment: 'go' });
    const decided = await fetch(url + path, { method: 'POST', body: form });
    expect(decided.status).toBe(200);
    expect(await engine.wait(id, { timeoutMs: 5_000 })).toMatchObject({ result: { z: 'NoOp' } });
    const [node] = await engine.nodeRuns(id);
    expect(node?.output).toEqual({ approved: true, comment: 'go', by: 'link' });
    const again = await call(path, { method: 'POST', body: { approved: false } });
    expect([again.status, JSON.stringify(again.body)]).toEqual([
      409,
      expect.stringContaining('NOT_WAITING'),
    ]);
    expect((await call(path)).body.isOpen).toBe(false);
  });

  it('by a link that somebody changed, or that has expired, is not found', async () => {
    const id = await startWaiting('ask');
    const [node] = await engine.nodeRuns(id);
    const { pathname } = new URL(String(node?.detail?.['link']));
    const place = { executionId: id, nodeId: 'q', iteration: '', expiresAtMs: Date.now() - 1 };
    const old = new URL(approvals.linkOf(place)).pathname;
    const other = pathname.replace('/approvals/W', '/approvals/X');
    for (const path of [`${pathname}x`, other, old, '/api/v1/approvals/~', '/api/v1/approvals/a']) {
      const answer = await call(path, { method: 'POST', body: { approved: true } });
      expect(answer.status).toBe(404);
    }
    expect((await engine.find(id))?.status).toBe('waiting');
  });

  it('is for the named approvers alone, the owner included in the others', async () => {
    const id = await startWaiting('guarded');
    const path = `/api/v1/executions/${id}/approvals/q`;
    const post = { method: 'POST', body: { approved: false } };
    expect((await call(path, post)).status).toBe(403);
    expect((await call(path, { ...post, sub: 'usr_other' })).status).toBe(404);
    expect((await call(path, { ...post, sub: 'usr_boss' })).status).toBe(200);
    expect((await call(path, { ...post, sub: 'usr_boss' })).status).toBe(409);
    await expect
      .poll(async () => (await engine.nodeRuns(id))[0]?.output)
      .toMatchObject({ approved: false, by: 'usr_boss' });
  });
});

describe('an execution', () => {
  it('is answered as the interface says', async () => {
    const id = await startEnded();
    const { body } = await call(`/api/v1/executions/${id}`);
    expect(body).toMatchObject({
      executionId: id,
      workflowId: 'plain',
      status: 'completed',
      startedAt: expect.any(String),
      completedAt: expect.any(String),
      duration: expect.any(Number),
      nodes: [
        { nodeId: 'a', status: 'completed', duration: expect.any(Number), output: 'NoOp' },
        { nodeId: 'b', status: 'completed' },
      ],
      result: { b: 'NoOp' },
    });
    const list = await call('/api/v1/workflows/plain/executions?status=completed&limit=1');
    expect(list.body).toMatchObject({ executions: [{ executionId: id }], limit: 1, offset: 0 });
    const running = await call('/api/v1/executions?status=running&workflowId=plain');
    expect(running.body).toMatchObject({ executions: [], total: 0 });
  });

  it('is streamed anew behind the seq of a message, which is acknowledged where it asks for that', async () => {
    const id = await startWaiting('ask');
    const token = await server.issuer.sign({ sub: 'usr_test', permissions: all });
    const path = `${url}/api/v1/executions/${id}/stream?access_token=${token}`;
    const client = await new TestClient(path).opened();
    const first = await client.take(2);
    expect(first).toMatchObject([{ type: 'node-started' }, { type: 'node-waiting', seq: 2 }]);
    client.send({ action: 'subscribe', after: 1, ack: true });
    expect(await client.take(2)).toEqual([{ type: 'subscribed', seq: 1 }, first[1]]);
    for (let count = 0; count < 3; count += 1) client.socket.send('not json');
    expect(await client.next()).toMatchObject({ type: 'error' });
    expect((await client.closed()).code).toBe(1007);
  });

  it('acts with the token of whoever resumes or re-runs it, within others too', async () => {
    let isAway = true;
    const act = makeComponent('Act', {
      callerToken: 'needed',
      run: async (_data, { callerToken }) => {
        const token = await callerToken();
        if (isAway) throw new Fault('unavailable', 'not now');
        return { kind: 'done', output: token ?? 'none' };
      },
    });
    const child = {
      component: createSubWorkflow({ starter: () => engine, requireNameable: async () => {} }),
      data: { workflowId: 'act' },
    };
    ground.plans.set('act', makePlan({ nodes: { a: act }, edges: [] }));
    ground.plans.set('parent', makePlan({ nodes: { c: child }, edges: [] }));
    const { id } = await engine.start(startOf('parent', { callerToken: 'first' }));
    expect(await engine.wait(id, { timeoutMs: 5_000 })).toMatchObject({ status: 'failed' });
    isAway = false;
    const token = expect.stringMatching(/^ey/);
    const result = { c: { result: { a: token } } };
    const path = `/api/v1/executions/${id}`;
    expect((await call(`${path}/resume`, { method: 'POST' })).status).toBe(202);
    expect(await engine.wait(id, { timeoutMs: 5_000 })).toMatchObject({ result });
    const { body } = await call(`${path}/rerun`, { method: 'POST', body: { fromNode: 'c' } });
    expect(await engine.wait(body.executionId, { timeoutMs: 5_000 })).toMatchObject({ result });
    const kept = await ground.database.query(
      'select id from workflow.executions where caller_token is not null',
    );
    expect(kept).toEqual([]);
  });

  it('is followed by who may start it; starting alone gives no listing', async () => {
    const id = await startEnded();
    const permissions = ['workflow:execute'];
    expect((await call(`/api/v1/executions/${id}`, { permissions })).status).toBe(200);
    expect((await call('/api/v1/executions', { permissions })).status).toBe(403);
    const stranger = { permissions: ['mesh:communicate'] };
    expect((await call(`/api/v1/executions/${id}`, stranger)).status).toBe(403);
    const creator = { permissions: ['workflow:create'] };
    expect((await call(`/api/v1/executions/${id}`, creator)).status).toBe(200);
  });

  it('is streamed from its start or behind a seq, and the stream closes after its last event', async () => {
    const id = await startEnded();
    const token = await server.issuer.sign({ permissions: all });
    const path = `${url}/api/v1/executions/${id}/stream?access_token=${token}`;
    const client = await new TestClient(path).opened();
    const events = await client.take(5);
    expect(events).toMatchObject([
      { type: 'node-started', executionId: id, nodeId: 'a', seq: 1 },
      { type: 'node-completed', nodeId: 'a', output: 'NoOp', duration: expect.any(Number) },
      { type: 'node-started', nodeId: 'b' },
      { type: 'node-completed', nodeId: 'b' },
      { type: 'workflow-completed', duration: expect.any(Number), result: { b: 'NoOp' }, seq: 5 },
    ]);
    expect((await client.closed()).code).toBe(1000);
    const late = await new TestClient(`${path}&after=4`).opened();
    expect(await late.next()).toMatchObject({ seq: 5 });
    expect((await late.closed()).code).toBe(1000);
  });
});
