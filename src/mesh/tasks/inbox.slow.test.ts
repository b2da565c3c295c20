import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { silentLog } from '../../kit/testing.ts';
import { agentOf, openTasksGround, startAgent, startTasks, type TasksGround } from './testing.ts';

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
  second.told.length = 0;
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
  const record = (await mesh.call('GET', `/api/v1/tasks/${task.taskId}`)).body;
  const event = [...mesh.told, ...second.told].find(({ data }) => data['taskId'] === task.taskId);
  expect([record.duration, event?.data['duration']]).toEqual([body.duration, body.duration]);
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

test('an answer is a result, also of null, or an error; what is neither can be put right', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const asked = mesh.execute({ targetAgent: agentId, task: taskOf() });
  const [task] = (await mesh.call('GET', `${inbox}?wait=5`, owner)).body.tasks;
  const answer = (body: unknown) =>
    mesh.call('POST', `${inbox}/${task.taskId}`, { ...owner, body });
  for (const body of [{}, { output: { text: 'the answer' } }]) {
    const refused = await answer(body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  }
  expect((await answer({ result: null })).body.status).toBe('completed');
  expect((await asked).body).toMatchObject({ status: 'completed', result: null });
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

test('a task stays its owner’s when the id has gone to somebody else', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const first = await startTasks(ground);
  const headers = { prefer: 'respond-async' };
  const asked = { targetAgent: agentId, task: taskOf({ timeout: 60_000 }) };
  const { taskId } = (await first.execute(asked, { headers })).body;
  await waiting(agentId, 1);
  await first[Symbol.asyncDispose]();

  const other = { as: 'usr_other', body: { result: 'forged' } };
  const taken = async (as: string) => (await mesh.call('GET', inbox, { as })).body.tasks;
  const handTo = (ownerId: string) => ground.directory.put(agentOf(agentId, { ownerId }));
  handTo('usr_other');
  expect(await taken('usr_other')).toEqual([]);
  expect((await mesh.call('POST', `${inbox}/${taskId}`, other)).status).toBe(404);
  const seen = () => mesh.call('GET', `/api/v1/tasks/${taskId}`, { as: 'usr_other' });
  expect((await seen()).status).toBe(404);
  expect((await mesh.call('GET', inbox, owner)).status).toBe(403);

  handTo('usr_owner');
  expect(await taken('usr_owner')).toMatchObject([{ taskId, attempt: 1 }]);
  handTo('usr_other');
  expect((await mesh.call('POST', `${inbox}/${taskId}`, other)).status).toBe(404);
  const given = { ...owner, body: { result: 'kept' } };
  expect((await mesh.call('POST', `${inbox}/${taskId}`, given)).status).toBe(403);
  handTo('usr_owner');
  expect((await mesh.call('POST', `${inbox}/${taskId}`, given)).body.status).toBe('completed');
});

test('when an agent goes, whoever waits for it on any replica is told at once', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const asked = { targetAgent: agentId, task: taskOf({ timeout: 20_000 }) };
  const leased = mesh.execute(asked);
  expect((await mesh.call('GET', `${inbox}?wait=5`, owner)).body.tasks).toHaveLength(1);
  const pending = mesh.execute(asked);
  await waiting(agentId, 2);
  await using hanging = await startAgent(() => {});
  ground.directory.put(agentOf('hanging', { endpoints: { rest: hanging.url } }));
  const called = mesh.execute({ ...asked, targetAgent: 'hanging' });
  await expect.poll(() => hanging.requests.length).toBe(1);

  // This replica has not heard of it yet.
  await Promise.all([second.agentGone(agentId), second.agentGone('hanging')]);
  for (const { status, body } of await Promise.all([leased, pending, called])) {
    expect([status, body.error.code]).toEqual([503, 'AGENT_OFFLINE']);
  }
  expect((await mesh.call('GET', inbox, owner)).body.tasks).toEqual([]);
});

test('what outlived its process ends too when the agent goes', async () => {
  const agentId = putAgent();
  const first = await startTasks(ground);
  const headers = { prefer: 'respond-async' };
  const asked = { targetAgent: agentId, task: taskOf({ timeout: 60_000 }) };
  const { taskId } = (await first.execute(asked, { headers })).body;
  await waiting(agentId, 1);
  await first[Symbol.asyncDispose]();
  const reading = mesh.call('GET', `/api/v1/tasks/${taskId}?wait=30`);
  ground.directory.agents.clear();
  await second.agentGone(agentId);
  const { body } = await reading;
  expect([body.status, body.error.code]).toEqual(['failed', 'AGENT_OFFLINE']);
});

/** What both replicas have told of a task, when it was asked of one of them and the other took the answer. */
const toldOf = (taskId: string) =>
  [mesh, second].flatMap(({ told }) => told.filter(({ data }) => data['taskId'] === taskId));

test('the end of a task is told once, whichever replica took the answer or called it off', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const asked = mesh.execute({ targetAgent: agentId, task: taskOf() });
  const [task] = (await second.call('GET', `${inbox}?wait=5`, owner)).body.tasks;
  const given = { ...owner, body: { result: 1 } };
  await second.call('POST', `${inbox}/${task.taskId}`, given);
  expect((await asked).status).toBe(200);
  const data = { status: 'completed', type: 'chat' };
  expect(toldOf(task.taskId)).toMatchObject([{ type: 'task-executed', agentId, data }]);

  const headers = { prefer: 'respond-async' };
  const { body: off } = await mesh.execute({ targetAgent: agentId, task: taskOf() }, { headers });
  await second.call('DELETE', `/api/v1/tasks/${off.taskId}`);
  await expect
    .poll(async () => (await mesh.call('GET', `/api/v1/tasks/${off.taskId}`)).body.status)
    .toBe('cancelled');
  expect(toldOf(off.taskId)).toMatchObject([{ type: 'task-cancelled', agentId }]);
});

test('a task that outlived its process is told when it ends: by its answer, or because its agent goes', async () => {
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const first = await startTasks(ground);
  const ask = async () => {
    const headers = { prefer: 'respond-async' };
    const asked = { targetAgent: agentId, task: taskOf({ timeout: 60_000 }) };
    return String((await first.execute(asked, { headers })).body.taskId);
  };
  const answered = await ask();
  const left = await ask();
  await waiting(agentId, 2);
  await first[Symbol.asyncDispose]();
  await mesh.call('POST', `${inbox}/${answered}`, { ...owner, body: { result: 1 } });
  expect(toldOf(answered)).toMatchObject([{ type: 'task-executed', agentId }]);
  await second.agentGone(agentId);
  expect(toldOf(left)).toMatchObject([{ type: 'task-failed', agentId }]);
  expect(first.told).toEqual([]);
});

/** Takes with times that no request may name. */
const takeOf = (waitMs: number) => ({
  subject: owner.as,
  waitMs,
  leaseMs: 300,
  countMax: 1,
  signal: new AbortController().signal,
});

test('an agent that goes waits for its tasks no longer', async () => {
  const agentId = putAgent();
  let refusal: unknown;
  void mesh.inbox.take(agentId, takeOf(9_000)).catch((error: unknown) => {
    refusal = error;
  });
  ground.directory.agents.clear();
  await second.agentGone(agentId);
  // Long before its wait is over.
  await expect.poll(() => refusal).toMatchObject({ reason: 'agent_not_found' });
});

test('whoever waits gets a task as soon as the lease of another has ended', async () => {
  const agentId = putAgent();
  const headers = { prefer: 'respond-async' };
  // Nobody could take it any more when the wait is over.
  const asked = { targetAgent: agentId, task: taskOf({ timeout: 3_000 }) };
  const { taskId } = (await mesh.execute(asked, { headers })).body;
  const [task] = await mesh.inbox.take(agentId, takeOf(2_000));
  expect(task).toMatchObject({ taskId, attempt: 1 });
  const again = await second.inbox.take(agentId, takeOf(4_000));
  expect(again).toMatchObject([{ taskId, attempt: 2 }]);
});

/** A replica that hears of nothing, as it is on PostgreSQL without NATS; `looks` counts its statements. */
async function startDeaf() {
  const bus = await openBus({ log: silentLog });
  let looks = 0;
  const query: typeof ground.database.query = async (text, ...rest) => {
    const rows = await ground.database.query<never>(text, ...rest);
    looks += 1;
    return rows;
  };
  const database = Object.assign(Object.create(ground.database), { dialect: 'postgres', query });
  const deaf = await startTasks({ ...ground, bus, database });
  const stop = async () => {
    await deaf[Symbol.asyncDispose]();
    await bus[Symbol.asyncDispose]();
  };
  return { ...deaf, looks: () => looks, [Symbol.asyncDispose]: stop };
}

test('who waits gets a task of a process whose signals do not come here', async () => {
  await using deaf = await startDeaf();
  const agentId = putAgent();
  const path = `/api/v1/agents/${agentId}/inbox`;
  const startMs = Date.now();
  const taking = deaf.call('GET', `${path}?wait=14`, owner);
  await expect.poll(deaf.looks).toBeGreaterThan(0);
  const asked = mesh.execute({ targetAgent: agentId, task: taskOf({ timeout: 30_000 }) });
  const { body } = await taking;
  expect(body.tasks).toHaveLength(1);
  // Its own wait would have brought it too.
  expect(Date.now() - startMs).toBeLessThan(14_000);
  await deaf.call('POST', `${path}/${body.tasks[0].taskId}`, { ...owner, body: { result: 1 } });
  expect((await asked).status).toBe(200);
});

test('an answer that came in time counts, though who asked has not heard of it', async () => {
  await using deaf = await startDeaf();
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const answerOne = async (body: object) => {
    const [task] = (await mesh.call('GET', `${inbox}?limit=1`, owner)).body.tasks;
    await mesh.call('POST', `${inbox}/${task.taskId}`, { ...owner, body });
  };
  const task = taskOf({ timeout: 1_500 });
  const headers = { 'idempotency-key': 'deaf' };
  const asked = [
    deaf.execute({ targetAgent: agentId, task }),
    deaf.execute({ targetAgent: agentId, task }, { headers }),
  ];
  await waiting(agentId, 2);
  await answerOne({ result: 1 });
  await answerOne({ result: 1 });
  for (const { status, body } of await Promise.all(asked))
    expect([status, body.result]).toEqual([200, 1]);
  const failing = deaf.execute({ targetAgent: agentId, task });
  await waiting(agentId, 3);
  await answerOne({ error: { message: 'out of ink' } });
  const { status, body } = await failing;
  expect([status, body.error.details.agentError]).toEqual([502, 'out of ink']);
});

test('a task that its agent has answered is called off no more', async () => {
  await using deaf = await startDeaf();
  const agentId = putAgent();
  const inbox = `/api/v1/agents/${agentId}/inbox`;
  const asked = deaf.execute({ targetAgent: agentId, task: taskOf({ timeout: 60_000 }) });
  await waiting(agentId, 1);
  const [task] = (await mesh.call('GET', inbox, owner)).body.tasks;
  await mesh.call('POST', `${inbox}/${task.taskId}`, { ...owner, body: { result: 1 } });
  const path = `/api/v1/tasks/${task.taskId}`;
  expect((await deaf.call('GET', path)).body).toMatchObject({ status: 'completed', result: 1 });
  const late = await deaf.call('DELETE', path);
  expect([late.status, late.body.error.code]).toEqual([409, 'TASK_FINISHED']);
  expect((await asked).body).toMatchObject({ status: 'completed', result: 1 });
});
