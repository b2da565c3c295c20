import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  agentOf,
  openTasksGround,
  reply,
  startAgent,
  startTasks,
  type TasksGround,
} from './testing.ts';

type Replica = Awaited<ReturnType<typeof startTasks>>;

let ground: TasksGround;
let second: Replica;

beforeAll(async () => {
  ground = await openTasksGround();
  second = await startTasks(ground);
});
afterAll(async () => {
  await second?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});
beforeEach(() => ground.directory.agents.clear());

const later = { prefer: 'respond-async' };
const patience = { timeout: 20_000, interval: 100 };

/** An agent that does one task at a time, and keeps the first of them until it is told. */
async function startBusyAgent(agentId: string) {
  let held: ServerResponse | undefined;
  const agent = await startAgent((_request, response) => {
    if (agent.requests.length === 1) held = response;
    else reply(response, 200, { result: 'done' });
  });
  const put = (over: object = {}) =>
    ground.directory.put(
      agentOf(agentId, {
        endpoints: { rest: agent.url },
        metadata: { maxConcurrency: 1 },
        ...over,
      }),
    );
  put();
  return { ...agent, put, letGo: () => held && reply(held, 200, { result: 'first' }) };
}

/** One task that the agent has, and one behind it that waits for its turn. */
async function askTwice(replica: Replica, target: object, headers: Record<string, string> = {}) {
  const ask = (name: string, given: Record<string, string> = {}) =>
    replica.execute(
      { ...target, task: { type: 'chat', input: { name }, timeout: 60_000 } },
      { headers: { ...later, ...given } },
    );
  const first = await ask('first');
  const waits = await ask('second', headers);
  expect([first.status, waits.status]).toEqual([202, 202]);
  return { first: String(first.body.taskId), waits: String(waits.body.taskId) };
}

const statusOf = async (replica: Replica, taskId: string) => {
  const { body } = await replica.call('GET', `/api/v1/tasks/${taskId}`);
  return [body.status, body.error?.code ?? body.result];
};

async function expireLease(taskId: string): Promise<void> {
  const sql = `update mesh.tasks set lease_until = now() - interval '1 second' where id = $1`;
  await ground.database.query(sql, [taskId]);
}

test.each([
  ['an agent by its name', { targetAgent: 'busy' }],
  ['any able agent', { capability: 'chat' }],
])('what waits for %s when its process stops is done by another', async (_name, target) => {
  await using agent = await startBusyAgent('busy');
  const first = await startTasks(ground);
  const tasks = await askTwice(first, target);
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  await first[Symbol.asyncDispose]();
  await expect.poll(() => statusOf(second, tasks.waits), patience).toEqual(['completed', 'done']);
  const asked = agent.requests.filter(({ method }) => method === 'POST');
  expect(asked.map(({ body }) => body.input.name)).toEqual(['first', 'second']);
  expect(await statusOf(second, tasks.first)).toEqual(['failed', 'TASK_INTERRUPTED']);
});

test('an agent that was asked may still answer when its process stops; another is not asked', async () => {
  await using agent = await startBusyAgent('busy');
  const first = await startTasks(ground);
  const tasks = await askTwice(first, { targetAgent: 'busy' });
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  const stopped = first[Symbol.asyncDispose]();
  agent.letGo();
  await stopped;
  expect(await statusOf(second, tasks.first)).toEqual(['completed', 'first']);
  await expect.poll(() => statusOf(second, tasks.waits), patience).toEqual(['completed', 'done']);
});

test('what was about to begin when its process stopped, and no agent was asked for, waits on', async () => {
  await using agent = await startBusyAgent('busy');
  let goOn = () => {};
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  let isBegun = false;
  const query: typeof ground.database.query = async (text, ...rest) => {
    const rows = await ground.database.query<never>(text, ...rest);
    if (!text.includes('set begun_at = now()')) return rows;
    isBegun = true;
    await mayGoOn;
    return rows;
  };
  const database = Object.assign(Object.create(ground.database), { query });
  const first = await startTasks({ ...ground, database });
  const task = { type: 'chat', input: {}, timeout: 60_000 };
  const asked = await first.execute({ targetAgent: 'busy', task }, { headers: later });
  await expect.poll(() => isBegun, patience).toBe(true);
  const stopped = first[Symbol.asyncDispose]();
  goOn();
  await stopped;
  expect(agent.requests).toHaveLength(0);
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  agent.letGo();
  const { taskId } = asked.body;
  await expect.poll(() => statusOf(second, taskId), patience).toEqual(['completed', 'first']);
});

test('a process that lost what waited at it asks nobody, and tells what came of it', async () => {
  await using agent = await startBusyAgent('busy');
  await using first = await startTasks(ground);
  const { waits } = await askTwice(first, { targetAgent: 'busy' });
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  // As if it had hung for longer than its lease.
  await expect
    .poll(async () => {
      await expireLease(waits);
      return agent.requests.length;
    }, patience)
    .toBe(2);
  agent.letGo();
  await expect.poll(() => statusOf(first, waits), patience).toEqual(['completed', 'done']);
  expect(agent.requests).toHaveLength(2);
});

test('a key gets the outcome of what another process took over', async () => {
  await using agent = await startBusyAgent('busy');
  const first = await startTasks(ground);
  const key = { 'idempotency-key': 'once' };
  const { waits } = await askTwice(first, { targetAgent: 'busy' }, key);
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  await first[Symbol.asyncDispose]();
  const { status, body } = await second.execute(
    { targetAgent: 'busy', task: { type: 'chat', input: { name: 'second' }, timeout: 60_000 } },
    { headers: key },
  );
  expect([status, body.taskId, body.result]).toEqual([200, waits, 'done']);
});

test('what was taken over waits for an agent that is not back yet', async () => {
  await using agent = await startBusyAgent('busy');
  const first = await startTasks(ground);
  const { waits } = await askTwice(first, { targetAgent: 'busy' });
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  agent.put({ status: 'offline' });
  const holders = `select held_by from mesh.tasks where id = $1`;
  const holder = async () =>
    (await ground.database.query<{ held_by: string | null }>(holders, [waits]))[0]?.held_by;
  const before = await holder();
  // Another may take it over while this one still stops.
  await first[Symbol.asyncDispose]();
  await expect.poll(async () => [before, null].includes(await holder()), patience).toBe(false);
  expect((await statusOf(second, waits))[0]).toBe('running');
  agent.put();
  await expect.poll(() => statusOf(second, waits), patience).toEqual(['completed', 'done']);
});

test('what its agent had when the process died is known to be interrupted, and asked once', async () => {
  await using agent = await startBusyAgent('busy');
  await using first = await startTasks(ground);
  const { first: begun } = await askTwice(first, { targetAgent: 'busy' });
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  await expireLease(begun);
  expect(await statusOf(second, begun)).toEqual(['failed', 'TASK_INTERRUPTED']);
  expect(agent.requests).toHaveLength(1);
});

test('what waits can be called off at any process', async () => {
  await using agent = await startBusyAgent('busy');
  const first = await startTasks(ground);
  const { waits } = await askTwice(first, { targetAgent: 'busy' });
  await expect.poll(() => agent.requests.length, patience).toBe(1);
  agent.put({ status: 'offline' });
  await first[Symbol.asyncDispose]();
  expect((await second.call('DELETE', `/api/v1/tasks/${waits}`)).status).toBeLessThan(300);
  expect((await statusOf(second, waits))[0]).toBe('cancelled');
});

test.each([
  ['its agent had been asked', 'lease_until', 'TASK_INTERRUPTED'],
  ['its deadline had passed', 'deadline_at', 'TASK_DEADLINE'],
])('a task whose process died when %s ends, and that is told once', async (_name, column, code) => {
  const third = await startTasks(ground);
  const replicas = [second, third];
  const taskId = `tsk_${column}`;
  await ground.database.query(
    `insert into mesh.tasks (id, asked_by, agent_id, type, priority, status, created_at, deadline_at, lease_until,
       held_by, begun_at)
     values ($1, 'usr_asker', 'gone', 'chat', 1, 'running', now(), now() + interval '1 hour',
       now() + interval '1 hour', 'msh_gone', now())`,
    [taskId],
  );
  await ground.database.query(
    `update mesh.tasks set ${column} = now() - interval '1 minute' where id = $1`,
    [taskId],
  );
  const told = () =>
    replicas.flatMap((replica) => replica.told.filter(({ data }) => data['taskId'] === taskId));
  await expect.poll(told, patience).toMatchObject([{ type: 'task-failed', agentId: 'gone' }]);
  const rows = await ground.database.query<{ status: string }>(
    `select status from mesh.tasks where id = $1 and finished_at is not null`,
    [taskId],
  );
  expect(rows).toEqual([{ status: 'failed' }]);
  expect(await statusOf(second, taskId)).toEqual(['failed', code]);
  await third[Symbol.asyncDispose]();
  expect(told()).toHaveLength(1);
});
