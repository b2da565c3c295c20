import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { agentOf, openTasksGround, startTasks, type TasksGround } from './testing.ts';

let ground: TasksGround;
let mesh: Awaited<ReturnType<typeof startTasks>>;
let second: Awaited<ReturnType<typeof startTasks>>;

beforeAll(async () => {
  ground = await openTasksGround();
  mesh = await startTasks(ground);
  second = await startTasks(ground);
});
afterAll(async () => {
  await second?.[Symbol.asyncDispose]();
  await mesh?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  ground.directory.agents.clear();
  mesh.told.length = 0;
});

let last = 0;
function putAgent(): string {
  last += 1;
  const agentId = `quiet-${last}`;
  ground.directory.put(agentOf(agentId));
  return agentId;
}

const owner = { as: 'usr_owner' };
const taskOf = (over: Record<string, unknown> = {}) => ({
  type: 'chat',
  input: { prompt: 'hi' },
  timeout: 5_000,
  ...over,
});

/** Waits until so many tasks are in an agent's inbox. */
async function waiting(agentId: string, count: number): Promise<void> {
  await expect
    .poll(async () => {
      const rows = await ground.database.query<{ total: number }>(
        'select count(*) as total from mesh.tasks where agent_id = $1 and is_inbox',
        [agentId],
      );
      return rows[0]?.total;
    })
    .toBe(count);
}

test('only its owner takes an agent’s tasks, and nobody those of an unknown agent', async () => {
  const inbox = `/api/v1/agents/${putAgent()}/inbox`;
  const foreign = await mesh.call('GET', inbox);
  expect([foreign.status, foreign.body.error.code]).toEqual([403, 'NOT_AGENT_OWNER']);
  expect((await mesh.call('GET', '/api/v1/agents/nobody/inbox', owner)).status).toBe(404);
  const none = `${inbox}/tsk_${'0'.repeat(32)}`;
  const answer = await mesh.call('POST', none, { ...owner, body: { result: 1 } });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'TASK_NOT_FOUND']);
});

test('a task waits for its agent, on whichever replica that asks and answers', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const taking = second.call('GET', `${inbox}?wait=5`, owner);
  const asked = mesh.execute({ targetAgent: agentId, task: taskOf() });
  const [task] = (await taking).body.tasks;
  expect(task).toMatchObject({
    type: 'chat',
    input: { prompt: 'hi' },
    priority: 'normal',
    attempt: 1,
  });
  expect(task.timeout).toBeLessThanOrEqual(5_000);
  const path = `${inbox}/${task.taskId}`;
  const given = { ...owner, body: { result: { text: 'hello' } } };
  const answered = await second.call('POST', path, given);
  expect(answered.body).toEqual({ taskId: task.taskId, status: 'completed' });
  const { status, body } = await asked;
  expect([status, body.result, body.executedBy]).toEqual([200, { text: 'hello' }, agentId]);
  const repeated = await mesh.call('POST', path, given);
  expect([repeated.status, repeated.body.error.code]).toEqual([409, 'TASK_FINISHED']);
});

test('an agent’s failure is 502, and no answer in time 504', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const failing = mesh.execute({ targetAgent: agentId, task: taskOf() });
  const [task] = (await mesh.call('GET', `${inbox}?wait=5`, owner)).body.tasks;
  const body = { error: { message: 'out of ink' } };
  await mesh.call('POST', `${inbox}/${task.taskId}`, { ...owner, body });
  const failed = await failing;
  expect([failed.status, failed.body.error.details.agentError]).toEqual([502, 'out of ink']);
  const late = await mesh.execute({ targetAgent: agentId, task: taskOf({ timeout: 100 }) });
  expect(late.status).toBe(504);
  expect((await mesh.call('GET', inbox, owner)).body.tasks).toEqual([]);
});

test('urgent tasks are taken first', async () => {
  const agentId = putAgent();
  const headers = { prefer: 'respond-async' };
  for (const priority of ['low', 'normal', 'critical', 'high', 'normal']) {
    await mesh.execute({ targetAgent: agentId, task: taskOf({ priority }) }, { headers });
  }
  await waiting(agentId, 5);
  const seen: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const path = `/api/v1/agents/${agentId}/inbox?limit=1`;
    const [task] = (await mesh.call('GET', path, owner)).body.tasks;
    seen.push(task.priority);
  }
  expect(seen).toEqual(['critical', 'high', 'normal', 'normal', 'low']);
});

test('a task outlives the process that took it, and an idempotent asker gets its outcome', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const headers = { 'idempotency-key': 'over-a-restart' };
  const asked = { targetAgent: agentId, task: taskOf({ timeout: 20_000 }) };
  const first = await startTasks(ground);
  const interrupted = first.execute(asked, { headers });
  await waiting(agentId, 1);
  await first.runner[Symbol.asyncDispose]();
  expect((await interrupted).status).toBe(503);
  await first[Symbol.asyncDispose]();
  const [task] = (await second.call('GET', inbox, owner)).body.tasks;
  const again = mesh.execute(asked, { headers });
  await second.call('POST', `${inbox}/${task.taskId}`, { ...owner, body: { result: 'kept' } });
  const { status, body } = await again;
  expect([status, body.result, body.taskId]).toEqual([200, 'kept', task.taskId]);
});

test('a task whose taker says nothing within the lease is handed out again', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const headers = { prefer: 'respond-async' };
  await mesh.execute({ targetAgent: agentId, task: taskOf() }, { headers });
  const [task] = (await mesh.call('GET', `${inbox}?wait=5`, owner)).body.tasks;
  expect((await mesh.call('GET', inbox, owner)).body.tasks).toEqual([]);
  await ground.database.query(
    `update mesh.tasks set lease_until = now() - interval '1 second' where id = $1`,
    [task.taskId],
  );
  const [again] = (await mesh.call('GET', inbox, owner)).body.tasks;
  expect(again).toMatchObject({ taskId: task.taskId, attempt: 2 });
});

test('what a process was working on when it died is known to be interrupted', async () => {
  const agentId = putAgent();
  const headers = { prefer: 'respond-async' };
  const { taskId } = (await mesh.execute({ targetAgent: agentId, task: taskOf() }, { headers }))
    .body;
  await expect
    .poll(
      async () =>
        (await mesh.call('GET', `/api/v1/agents/${agentId}/inbox`, owner)).body.tasks.length,
    )
    .toBe(1);
  await ground.database.query(
    `update mesh.tasks set is_inbox = false, lease_until = now() - interval '1 second' where id = $1`,
    [taskId],
  );
  const { body } = await second.call('GET', `/api/v1/tasks/${taskId}`);
  expect([body.status, body.error.code]).toEqual(['failed', 'TASK_INTERRUPTED']);
});
