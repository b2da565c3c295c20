import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findFreePort } from '../../kit/testing.ts';
import {
  agentOf,
  openTasksGround,
  reply,
  startAgent,
  startTasks,
  type TasksGround,
} from './testing.ts';

let ground: TasksGround;
let mesh: Awaited<ReturnType<typeof startTasks>>;

beforeAll(async () => {
  ground = await openTasksGround();
  mesh = await startTasks(ground, { queueLengthMax: 2 });
});
afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  ground.directory.agents.clear();
  ground.directory.observed.length = 0;
  ground.directory.occupied.length = 0;
  mesh.told.length = 0;
  mesh.spans.length = 0;
});

const chat = (over: Record<string, unknown> = {}) => ({
  type: 'chat',
  input: { prompt: 'hello' },
  timeout: 5_000,
  priority: 'normal',
  ...over,
});

test('an unknown agent is 404 AGENT_NOT_FOUND with its id', async () => {
  const { status, body } = await mesh.execute({ targetAgent: 'nobody', task: chat() });
  expect(status).toBe(404);
  expect(body.error).toMatchObject({ code: 'AGENT_NOT_FOUND', details: { agentId: 'nobody' } });
});

test('a capability that no agent has is 404, one that all are too busy for 503', async () => {
  expect((await mesh.execute({ task: chat({ capability: 'weave' }) })).status).toBe(404);
  ground.directory.put(agentOf('a', { status: 'busy' }), agentOf('b', { status: 'draining' }));
  const { status, body, headers } = await mesh.execute({ task: chat() });
  expect([status, body.error.code, headers.get('retry-after')]).toEqual([
    503,
    'NO_AGENT_FREE',
    '1',
  ]);
});

test('an agent that is offline or cannot be reached is 503', async () => {
  const rest = `http://127.0.0.1:${await findFreePort()}`;
  ground.directory.put(
    agentOf('away', { status: 'offline' }),
    agentOf('gone', { endpoints: { rest } }),
  );
  const away = await mesh.execute({ targetAgent: 'away', task: chat() });
  expect([away.status, away.body.error.code]).toEqual([503, 'AGENT_OFFLINE']);
  const gone = await mesh.execute({ targetAgent: 'gone', task: chat() });
  expect([gone.status, gone.body.error.code]).toEqual([503, 'AGENT_UNREACHABLE']);
  expect(gone.body.error.details.agentId).toBe('gone');
});

test('an endpoint inside the host’s own network is never called', async () => {
  ground.directory.put(agentOf('inside', { endpoints: { rest: 'http://169.254.169.254/latest' } }));
  const { status, body } = await mesh.execute({ targetAgent: 'inside', task: chat() });
  expect([status, body.error.code]).toEqual([503, 'EGRESS_BLOCKED']);
});

test('a task for an agent is never repeated at the id’s next owner', async () => {
  await using agent = await startAgent((_, response) => {
    ground.directory.put(agentOf('moved', { ownerId: 'usr_other', endpoints }));
    reply(response, 503, {});
  });
  const endpoints = { rest: agent.url };
  ground.directory.put(agentOf('moved', { endpoints }));
  const { status, body } = await mesh.execute({ targetAgent: 'moved', task: chat() });
  expect([status, body.error.code]).toEqual([503, 'AGENT_OFFLINE']);
  expect(agent.requests).toHaveLength(1);
});

test('a failing agent is 502 and asked once; what it says is passed on shortened', async () => {
  await using agent = await startAgent((_, response) =>
    reply(response, 500, { error: { message: 'x'.repeat(2_000) } }),
  );
  ground.directory.put(agentOf('bad', { endpoints: { rest: agent.url } }));
  const { status, body } = await mesh.execute({ targetAgent: 'bad', task: chat() });
  expect(status).toBe(502);
  expect(body.error.details).toMatchObject({ agentId: 'bad', agentStatus: 500 });
  expect(body.error.details.agentError).toHaveLength(500);
  expect(agent.requests).toHaveLength(1);
  expect(mesh.told).toMatchObject([{ type: 'task-failed', agentId: 'bad' }]);
  expect(ground.directory.observed).toEqual([{ agentId: 'bad', isFailure: true }]);
});

test('a redirect, a page, a huge answer, half of one and forged JSON are 502', async () => {
  await using agent = await startAgent(({ path }, response) => {
    if (path.startsWith('/go')) response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    else if (path.startsWith('/page')) response.end('<html>');
    else if (path.startsWith('/big')) response.end(`"${'x'.repeat(2_000_000)}"`);
    else if (path.startsWith('/half')) response.write('{"result":', () => response.destroy());
    else response.end('{"result":{"__proto__":{"a":1}}}');
  });
  const reasons = {
    go: 'REDIRECT_REFUSED',
    page: 'INVALID_ANSWER',
    big: 'RESULT_TOO_LARGE',
    half: 'CONNECTION_LOST',
    forged: 'INVALID_ANSWER',
  };
  for (const [kind, reason] of Object.entries(reasons)) {
    ground.directory.put(agentOf(kind, { endpoints: { rest: `${agent.url}/${kind}` } }));
    const { status, body } = await mesh.execute({ targetAgent: kind, task: chat() });
    expect([kind, status, body.error.code]).toEqual([kind, 502, reason]);
  }
  expect(agent.requests).toHaveLength(5);
});

test('an agent that hangs or trickles is 504 at the deadline and told to stop', async () => {
  await using agent = await startAgent(({ path, method }, response) => {
    if (method === 'DELETE') return reply(response, 200, {});
    if (!path.startsWith('/trickle')) return;
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  for (const kind of ['hang', 'trickle']) {
    ground.directory.put(agentOf(kind, { endpoints: { rest: `${agent.url}/${kind}` } }));
    const { status, body } = await mesh.execute({
      targetAgent: kind,
      task: chat({ timeout: 200 }),
    });
    expect([status, body.error.code]).toEqual([504, 'TASK_DEADLINE']);
    const { taskId } = body.error.details;
    await expect
      .poll(() => agent.requests.map(({ method, path }) => `${method} ${path}`))
      .toContain(`DELETE /${kind}/tasks/${taskId}`);
  }
});

test('a task goes to the agent with its deadline, key and trace, and its answer comes back', async () => {
  await using agent = await startAgent((_, response) => reply(response, 200, { result: { a: 1 } }));
  ground.directory.put(agentOf('good', { endpoints: { rest: `${agent.url}/` } }));
  const { status, body } = await mesh.execute({ targetAgent: 'good', task: chat() });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'completed', result: { a: 1 }, executedBy: 'good' });
  expect(Number.isInteger(body.duration)).toBe(true);
  const [asked] = agent.requests;
  expect(asked).toMatchObject({ method: 'POST', path: '/tasks' });
  expect(asked?.body).toMatchObject({ taskId: body.taskId, type: 'chat', priority: 'normal' });
  expect(asked?.body.timeout).toBeLessThanOrEqual(5_000);
  expect(asked?.headers['idempotency-key']).toBe(body.taskId);
  const [span] = mesh.spans;
  expect(asked?.headers['traceparent']).toContain(`${span?.traceId}-${span?.spanId}`);
  expect(span?.attributes['agent.id']).toBe('good');
  const data = { taskId: body.taskId, duration: body.duration, status: 'completed' };
  expect(mesh.told).toMatchObject([{ type: 'task-executed', agentId: 'good', data }]);
  const read = await mesh.call('GET', `/api/v1/tasks/${body.taskId}`);
  expect(read.body).toMatchObject({ status: 'completed', result: { a: 1 }, executedBy: 'good' });
  const other = await mesh.call('GET', `/api/v1/tasks/${body.taskId}`, { as: 'usr_other' });
  expect([other.status, other.body.error.code]).toEqual([404, 'TASK_NOT_FOUND']);
});

test('busy and suspect agents are passed over for a capability, and asked when named', async () => {
  await using agent = await startAgent(({ path }, response) => reply(response, 200, path));
  const endpointsOf = (name: string) => ({ endpoints: { rest: `${agent.url}/${name}` } });
  ground.directory.put(
    agentOf('busy', { ...endpointsOf('busy'), status: 'busy' }),
    agentOf('suspect', { ...endpointsOf('suspect'), status: 'suspect' }),
    agentOf('free', endpointsOf('free')),
  );
  expect((await mesh.execute({ task: chat() })).body.executedBy).toBe('free');
  expect((await mesh.execute({ targetAgent: 'busy', task: chat() })).body.executedBy).toBe('busy');
  ground.directory.agents.delete('free');
  expect((await mesh.execute({ task: chat() })).body.executedBy).toBe('suspect');
});

test('what was not started goes to another agent; what may have been only if it is idempotent', async () => {
  await using full = await startAgent((_, response) => reply(response, 429, {}));
  await using broken = await startAgent((_, response) => void response.destroy());
  await using good = await startAgent((_, response) => reply(response, 200, 'done'));
  const goodAgent = agentOf('good', { endpoints: { rest: good.url } });
  ground.directory.put(agentOf('full', { endpoints: { rest: full.url } }), goodAgent);
  expect((await mesh.execute({ task: chat() })).body.executedBy).toBe('good');
  ground.directory.agents.clear();
  const endpoints = { rest: broken.url };
  ground.directory.put(agentOf('broken', { endpoints }), goodAgent);
  const lost = await mesh.execute({ task: chat() });
  expect([lost.status, lost.body.error.code]).toEqual([502, 'CONNECTION_LOST']);
  ground.directory.agents.clear();
  ground.directory.put(agentOf('broken', { endpoints, isIdempotent: true }), goodAgent);
  expect((await mesh.execute({ task: chat() })).body.executedBy).toBe('good');
});

test('an agent that works on is polled on its own origin only; a duplicate answers what was', async () => {
  let polls = 0;
  await using agent = await startAgent(({ method, path }, response) => {
    if (path.startsWith('/twice')) return reply(response, 409, { result: 'before' });
    if (method === 'POST') {
      const poll = path.startsWith('/evil') ? 'http://127.0.0.1:1/x' : '/mine/poll';
      return reply(response, 202, { status: 'working', poll });
    }
    polls += 1;
    return reply(response, polls < 3 ? 202 : 200, { result: polls });
  });
  for (const name of ['mine', 'evil', 'twice']) {
    ground.directory.put(agentOf(name, { endpoints: { rest: `${agent.url}/${name}` } }));
  }
  expect((await mesh.execute({ targetAgent: 'mine', task: chat() })).body.result).toBe(3);
  expect((await mesh.execute({ targetAgent: 'evil', task: chat() })).status).toBe(502);
  expect((await mesh.execute({ targetAgent: 'twice', task: chat() })).body.result).toBe('before');
});

test('no more tasks wait for an agent than its queue holds', async () => {
  const held: (() => void)[] = [];
  await using agent = await startAgent((_, response) => {
    held.push(() => reply(response, 200, null));
  });
  const metadata = { maxConcurrency: 1 };
  ground.directory.put(agentOf('one', { endpoints: { rest: agent.url }, metadata }));
  const asked = Array.from({ length: 4 }, () => mesh.execute({ targetAgent: 'one', task: chat() }));
  await expect.poll(() => mesh.told.length).toBe(1);
  for (let released = 0; released < 3; released += 1) {
    await expect.poll(() => held.length).toBe(released + 1);
    held[released]?.();
  }
  const codes = (await Promise.all(asked)).map(({ body }) => body.error?.code ?? body.status);
  expect(codes.filter((code) => code === 'completed')).toHaveLength(3);
  expect(codes.filter((code) => code === 'AGENT_QUEUE_FULL')).toHaveLength(1);
  const shares = ground.directory.occupied.map(({ share }) => share);
  expect([shares[0], shares.at(-1)]).toEqual([1, 0]);
});

test('a key gets the same outcome once, another request with it is refused', async () => {
  let count = 0;
  await using agent = await startAgent((_, response) => reply(response, 200, (count += 1)));
  ground.directory.put(agentOf('once', { endpoints: { rest: agent.url } }));
  const headers = { 'idempotency-key': 'k1' };
  const asked = { targetAgent: 'once', task: chat() };
  const both = await Promise.all([
    mesh.execute(asked, { headers }),
    mesh.execute(asked, { headers }),
  ]);
  expect(both.map(({ body }) => body.result)).toEqual([1, 1]);
  await using second = await startTasks(ground);
  expect((await second.execute(asked, { headers })).body).toEqual(both[0]?.body);
  const other = await mesh.execute({ ...asked, task: chat({ timeout: 77 }) }, { headers });
  expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  expect((await mesh.execute(asked, { headers, as: 'usr_other' })).body.result).toBe(2);
});

test('a key with a fingerprint stands for the same request, whatever else it says', async () => {
  await using agent = await startAgent((_, response) => reply(response, 200, 1));
  ground.directory.put(agentOf('printed', { endpoints: { rest: agent.url } }));
  const ask = (timeoutMs: number, fingerprint: string) =>
    mesh.runner.run(
      { agentId: 'printed' },
      { type: 'chat', input: {}, timeoutMs, priority: 'normal' },
      { askedBy: 'usr_asker', idempotencyKey: 'printed', fingerprint },
    );
  const first = await ask(5_000, 'one');
  expect(await ask(4_000, 'one')).toEqual(first);
  expect(agent.requests).toHaveLength(1);
  await expect(ask(5_000, 'two')).rejects.toMatchObject({ reason: 'idempotency_key_reused' });
});

test('a key of a task that nobody began can be used again', async () => {
  const headers = { 'idempotency-key': 'k2' };
  const asked = { targetAgent: 'late', task: chat() };
  expect((await mesh.execute(asked, { headers })).status).toBe(404);
  await using agent = await startAgent((_, response) => reply(response, 200, 'now'));
  ground.directory.put(agentOf('late', { endpoints: { rest: agent.url } }));
  expect((await mesh.execute(asked, { headers })).body.result).toBe('now');
});

test('a task that nobody waits for is read, awaited and called off on any replica', async () => {
  const held: (() => void)[] = [];
  await using agent = await startAgent(({ method }, response) => {
    if (method === 'DELETE') reply(response, 200, {});
    else held.push(() => reply(response, 200, 'late'));
  });
  await using second = await startTasks(ground);
  ground.directory.put(agentOf('slow', { endpoints: { rest: agent.url } }));
  const headers = { prefer: 'respond-async' };
  const ask = () => mesh.execute({ task: chat() }, { headers });
  const { status, body } = await ask();
  expect([status, body.status]).toEqual([202, 'running']);
  const path = `/api/v1/tasks/${body.taskId}`;
  const awaited = second.call('GET', `${path}?wait=5`);
  await expect.poll(() => held.length).toBe(1);
  held[0]?.();
  expect((await awaited).body).toMatchObject({ status: 'completed', result: 'late' });
  expect((await mesh.call('DELETE', path)).body.error.code).toBe('TASK_FINISHED');
  const next = (await ask()).body.taskId;
  await expect.poll(() => held.length).toBe(2);
  const cancelled = await second.call('DELETE', `/api/v1/tasks/${next}`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  await expect
    .poll(() => agent.requests.map((request) => `${request.method} ${request.path}`))
    .toContain(`DELETE /tasks/${next}`);
  const told = () => [...mesh.told, ...second.told].filter(({ data }) => data['taskId'] === next);
  expect(told()).toMatchObject([{ type: 'task-cancelled', agentId: 'slow' }]);
});

test('a caller who leaves ends its task', async () => {
  await using agent = await startAgent(({ method }, response) => {
    if (method === 'DELETE') reply(response, 200, {});
  });
  ground.directory.put(agentOf('slow', { endpoints: { rest: agent.url } }));
  const leaving = new AbortController();
  const asked = mesh.execute({ targetAgent: 'slow', task: chat() }, { signal: leaving.signal });
  await expect.poll(() => agent.requests.length).toBe(1);
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(() => agent.requests.at(-1)?.method).toBe('DELETE');
  expect(mesh.told).toMatchObject([{ type: 'task-cancelled', data: { status: 'cancelled' } }]);
});
