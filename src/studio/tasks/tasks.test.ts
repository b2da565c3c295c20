import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { NewTask, Tasks } from './task.ts';
import { openTaskGround } from './ground-testing.ts';
import { identityOf, taskOf as task, untilEnded } from './testing.ts';

const ada = identityOf('usr_ada');
const bob = identityOf('usr_bob');
let ground: Awaited<ReturnType<typeof openTaskGround>>;

beforeAll(async () => {
  ground = await openTaskGround();
});
afterEach(() => ground.clear());
afterAll(() => ground[Symbol.asyncDispose]());

const start = (limits: Parameters<typeof ground.startTasks>[0] = {}) => ground.startTasks(limits);
const begunCount = (count: number) =>
  expect.poll(() => ground.mesh.begun.length, { interval: 5 }).toBe(count);

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no refusal',
    (error: unknown) => (error instanceof Fault ? (error.reason ?? error.code) : String(error)),
  );

describe('A task is refused', () => {
  test('for an agent that is not the caller’s, lacks the capability or is too small', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1', capabilities: ['js'] });
    const giving = (given: Partial<NewTask>, who = ada) =>
      reasonOf(tasks.add(who, task({ wantedAgent: 'agt_1', ...given })));
    expect(await giving({}, bob)).toBe('agent_not_found');
    expect(await giving({ requirements: { capabilities: ['rust'] } })).toBe('agent_not_able');
    const resources = { cpu: 4, memory: 0 };
    expect(await giving({ requirements: { resources } })).toBe('agent_not_able');
    expect(await giving({ workspaceId: 'wsp_1' })).toBe('workspace_mismatch');
    expect(await giving({ input: { prompt: 'x'.repeat(800_000) } })).toBe('input_too_large');
    expect((await tasks.list(ada, { limit: 10, offset: 0 })).total).toBe(0);
  });

  test('in a workspace where the caller is nobody, or whose role gives no tasks', async () => {
    const tasks = await start();
    const { id: workspaceId } = await ground.workspaces.create(ada, {
      name: 'w',
      members: [{ userId: 'usr_view', role: 'Viewer' }],
    });
    const giving = (subject: string) =>
      reasonOf(tasks.add(identityOf(subject), task({ workspaceId })));
    expect(await giving('usr_bob')).toBe('workspace_not_found');
    expect(await giving('usr_view')).toBe('insufficient_permissions');
  });

  test('without the test command, the deploy workflow or the permission that its type takes', async () => {
    const tasks = await start();
    const bare = await ground.workspaces.create(ada, { name: 'bare' });
    const settings = { deployWorkflow: 'wfl_1' };
    const able = await ground.workspaces.create(ada, { name: 'able', settings });
    const giving = (type: 'test' | 'deploy', workspaceId?: string) =>
      reasonOf(tasks.add(ada, { type, ...(workspaceId && { workspaceId }) }));
    expect(await giving('test', bare.id)).toBe('no_test_command');
    expect(await giving('deploy', bare.id)).toBe('no_deploy_workflow');
    expect(await giving('deploy', able.id)).toBe('insufficient_permissions');
  });

  test('when too many are open already', async () => {
    const tasks = await start({ openMax: 1 });
    await tasks.add(ada, task());
    expect(await reasonOf(tasks.add(ada, task()))).toBe('too_many_tasks');
  });

  test('with a key that stands for another task, while the same again is the same task', async () => {
    const tasks = await start();
    const first = await tasks.add(ada, task({ idempotencyKey: 'k' }));
    const again = await Promise.all(
      [1, 2, 3].map(() => tasks.add(ada, task({ idempotencyKey: 'k' }))),
    );
    expect(again.map(({ id }) => id)).toEqual([first.id, first.id, first.id]);
    const other = tasks.add(ada, task({ idempotencyKey: 'k', priority: 'low' }));
    expect(await reasonOf(other)).toBe('idempotency_key_reused');
    const bobs = await tasks.add(bob, task({ idempotencyKey: 'k' }));
    expect(bobs.id).not.toBe(first.id);
  });
});

describe('A task fails', () => {
  test('with the agent’s own words when it fails, and is not tried again', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.work = ({ fail }) => fail('AGENT_FAILED', 'the agent failed', 'no such file');
    const { id } = await tasks.add(ada, task());
    const ended = await untilEnded(tasks, id);
    expect(ended).toMatchObject({ status: 'failed', attempt: 1, assignedAgent: 'agt_1' });
    expect(ended.failure).toEqual({ code: 'agent_failed', message: 'no such file' });
    expect(ground.mesh.begun).toHaveLength(1);
  });

  test('with the reason that an agent of the studio tells before its words', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    const words = 'answer_malformed: The model’s answer is no review.';
    ground.mesh.work = ({ fail }) => fail('AGENT_FAILED', 'the agent failed', words);
    const { id } = await tasks.add(ada, task());
    expect((await untilEnded(tasks, id)).failure).toEqual({
      code: 'answer_malformed',
      message: 'The model’s answer is no review.',
    });
    ground.mesh.work = ({ fail }) => fail('AGENT_FAILED', 'the agent failed', 'note: no reason');
    const other = await tasks.add(ada, task());
    expect((await untilEnded(tasks, other.id)).failure).toEqual({
      code: 'agent_failed',
      message: 'note: no reason',
    });
  });

  test('with what ended its agent, when each attempt ends it', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    const failure = { reason: 'out_of_memory', message: 'it took more than 1Gi', atMs: 1 } as const;
    const { id } = await tasks.add(ada, task());
    for (const attempt of [1, 2, 3]) {
      await expect
        .poll(async () => {
          const { status, attempt: now } = await tasks.read(ada, id);
          return [status, now];
        })
        .toEqual(['running', attempt]);
      ground.agents.set({ id: 'agt_1', status: 'restarting', restarts: attempt, failure });
      ground.agents.set({ id: 'agt_1', status: 'running' });
    }
    const { failure: told } = await untilEnded(tasks, id);
    expect(told?.code).toBe('agent_out_of_memory');
    expect(told?.message).toContain('it took more than 1Gi');
  });

  test.each(['stopping', 'stopped', 'expired', 'failed'] as const)(
    'at once, unaccepted, when it is for an agent that is %s',
    async (status) => {
      const tasks = await start();
      ground.agents.set({ id: 'agt_1' });
      const wanted = task({ wantedAgent: 'agt_1', idempotencyKey: `for ${status}` });
      const known = await tasks.add(ada, wanted);
      ground.agents.set({ id: 'agt_1', status });
      await expect(tasks.add(ada, task({ wantedAgent: 'agt_1' }))).rejects.toMatchObject({
        code: 'conflict',
        reason: 'agent_not_running',
        detail: { agentId: 'agt_1', status },
      });
      expect((await tasks.add(ada, wanted)).id).toBe(known.id);
      expect(await tasks.add(ada, task())).toMatchObject({ status: 'queued' });
    },
  );

  test('after three attempts when its agent cannot be reached', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.work = ({ fail }) => fail('AGENT_OFFLINE', 'the agent is offline');
    const { id } = await tasks.add(ada, task());
    const ended = await untilEnded(tasks, id);
    expect(ended).toMatchObject({ attempt: 3, failure: { code: 'agent_unavailable' } });
    expect(ground.mesh.begun.map(({ key }) => key)).toEqual([`${id}:1`, `${id}:2`, `${id}:3`]);
  });

  test('when the mesh says that it took too long', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.work = ({ fail }) => fail('TASK_DEADLINE');
    const { id } = await tasks.add(ada, task({ requirements: { timeoutMs: 50 } }));
    expect((await untilEnded(tasks, id)).failure).toMatchObject({ code: 'timeout' });
    expect(ground.mesh.begun[0]).toMatchObject({ timeout: 50 });
  });

  test('when the answer is larger than 1 MiB', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.work = ({ answer }) => answer({ text: 'x'.repeat(2 ** 20), artefacts: [] });
    const { id } = await tasks.add(ada, task());
    expect((await untilEnded(tasks, id)).failure).toMatchObject({ code: 'agent_failed' });
  });

  test('when its agent ends before it began, but waits for one that is started again', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1', status: 'restarting' });
    ground.agents.set({ id: 'agt_2', status: 'restarting' });
    const lost = await tasks.add(ada, task({ wantedAgent: 'agt_1' }));
    const kept = await tasks.add(ada, task({ wantedAgent: 'agt_2' }));
    expect(kept).toMatchObject({ status: 'queued', waiting: { reason: 'agent_not_running' } });
    expect(tasks.counts('agt_2')).toEqual({ running: 0, queued: 1 });
    ground.agents.set({ id: 'agt_1', status: 'failed' });
    expect((await untilEnded(tasks, lost.id)).failure).toMatchObject({ code: 'agent_lost' });
    ground.mesh.work = ({ answer }) => answer({ text: 'done', artefacts: [] });
    ground.agents.set({ id: 'agt_2', status: 'running' });
    expect(await untilEnded(tasks, kept.id)).toMatchObject({ status: 'completed' });
  });

  test('when no able agent runs for its waiting time, and says until then that none does', async () => {
    const tasks = await start({ times: { waitMsMax: 200 } });
    ground.agents.set({ id: 'agt_1', capabilities: ['js'] });
    const given = await tasks.add(ada, task({ requirements: { capabilities: ['rust'] } }));
    expect(given.waiting).toMatchObject({ reason: 'no_agent' });
    expect((await untilEnded(tasks, given.id)).failure).toMatchObject({ code: 'no_agent' });
    expect(ground.mesh.begun).toEqual([]);
  });

  test('when the mesh refuses it for good', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.refuse = () => {
      throw new Fault('forbidden', 'not you', { reason: 'insufficient_permissions' });
    };
    const { id } = await tasks.add(ada, task());
    expect((await untilEnded(tasks, id)).failure).toMatchObject({
      code: 'insufficient_permissions',
    });
  });
});

describe('A task without a workspace', () => {
  test('is taken whatever its type, and tells in its record what it lacked', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.work = ({ fail }) => fail('AGENT_FAILED', 'the agent failed', 'no workspace');
    const checked = await tasks.add(ada, { type: 'test' });
    expect((await untilEnded(tasks, checked.id)).failure?.message).toBe('no workspace');
    const deployed = await tasks.add(ada, { type: 'deploy' });
    expect((await untilEnded(tasks, deployed.id)).failure?.code).toBe('no_deploy_workflow');
  });
});

describe('A task that is called off', () => {
  test('is told to its agent, ends at once, and cannot be called off again', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    const { id } = await tasks.add(ada, task());
    await begunCount(1);
    expect(await tasks.cancel(ada, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'cancelled' },
    });
    await expect.poll(() => ground.mesh.begun[0]?.signal.aborted, { interval: 5 }).toBe(true);
    expect(await reasonOf(tasks.cancel(ada, id))).toBe('task_finished');
    ground.mesh.begun[0]?.answer({ text: 'late', artefacts: [] });
    expect((await tasks.read(ada, id)).failure).toMatchObject({ code: 'cancelled' });
    await expect.poll(() => tasks.counts('agt_1')).toEqual({ running: 0, queued: 0 });
  });

  test('before it began never begins', async () => {
    const tasks = await start();
    const { id } = await tasks.add(ada, task());
    await tasks.cancel(ada, id);
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.work = ({ answer }) => answer('ok');
    const next = await tasks.add(ada, task());
    await untilEnded(tasks, next.id);
    expect(ground.mesh.begun).toHaveLength(1);
  });

  test('is nobody’s but its owner’s and its workspace’s', async () => {
    const tasks = await start();
    const { id } = await tasks.add(ada, task());
    expect(await reasonOf(tasks.cancel(bob, id))).toBe('task_not_found');
    expect(await reasonOf(tasks.read(bob, id))).toBe('task_not_found');
    expect((await tasks.list(bob, { limit: 10, offset: 0 })).total).toBe(0);
    const root = identityOf('usr_root', ['*']);
    expect((await tasks.list(root, { limit: 10, offset: 0 })).total).toBe(1);
    expect(await tasks.cancel(root, id)).toMatchObject({ status: 'failed' });
  });
});

describe('An agent', () => {
  test('gets no more tasks at once than it may, the most urgent first', async () => {
    const tasks = await start({ agentTasksMax: 1 });
    ground.agents.set({ id: 'agt_1', status: 'restarting' });
    const wantedAgent = 'agt_1';
    const low = await tasks.add(ada, task({ wantedAgent, priority: 'low' }));
    const critical = await tasks.add(ada, task({ wantedAgent, priority: 'critical' }));
    ground.agents.set({ id: 'agt_1', status: 'running' });
    await begunCount(1);
    expect(ground.mesh.begun[0]?.input.studioTaskId).toBe(critical.id);
    expect((await tasks.read(ada, low.id)).waiting).toMatchObject({ reason: 'agents_busy' });
    ground.mesh.begun[0]?.answer('ok');
    await begunCount(2);
    expect(ground.mesh.begun[1]?.input.studioTaskId).toBe(low.id);
  });

  test('gets a large task although small ones keep coming', async () => {
    const tasks = await start({ times: { ageingMs: 30 } });
    ground.agents.set({ id: 'agt_1', resources: { cpu: 1, memory: 2 ** 30 } });
    const sized = (cpu: number) => task({ requirements: { resources: { cpu, memory: 0 } } });
    const small = await Promise.all([0.5, 0.5].map((cpu) => tasks.add(ada, sized(cpu))));
    await begunCount(2);
    const large = await tasks.add(ada, sized(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await tasks.add(ada, sized(0.5));
    ground.mesh.begun[0]?.answer('ok');
    await untilEnded(tasks, ground.mesh.begun[0]!.input.studioTaskId);
    expect(small.map(({ id }) => id)).toContain(ground.mesh.begun[0]!.input.studioTaskId);
    ground.mesh.begun[1]?.answer('ok');
    await begunCount(3);
    expect(ground.mesh.begun[2]?.input.studioTaskId).toBe(large.id);
  });

  test('gets what the workspace’s settings say, as they were when the task was given', async () => {
    const tasks = await start();
    const settings = { testCommand: ['node', '--test'], model: 'm', tools: ['c__t'] };
    const workspace = await ground.workspaces.create(ada, { name: 'w', settings });
    const workspaceId = workspace.id;
    const given = await tasks.add(ada, { type: 'test', workspaceId, input: { prompt: 'p' } });
    await ground.workspaces.change(ada, workspaceId, { settings: {} });
    ground.agents.set({ id: 'agt_1', workspaceId });
    await begunCount(1);
    expect(ground.mesh.begun[0]).toMatchObject({ agentId: 'agt_1', type: 'test' });
    expect(ground.mesh.begun[0]?.input).toEqual({
      prompt: 'p',
      studioTaskId: given.id,
      workspaceId,
      ...settings,
    });
  });

  test('whose answer is none of ours is kept as text, and unknown fields are not kept', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    const answers = [{ said: 'hello' }, 'plain', { text: 't', artefacts: [], more: 1 }];
    const shown: unknown[] = [];
    for (const answer of answers) {
      ground.mesh.work = (begun) => begun.answer(answer);
      const { id } = await tasks.add(ada, task());
      const { result, artefacts } = await untilEnded(tasks, id);
      shown.push({ result, artefacts });
    }
    expect(shown).toEqual([
      { result: { text: '{"said":"hello"}' }, artefacts: [] },
      { result: { text: 'plain' }, artefacts: [] },
      { result: { text: 't' }, artefacts: [] },
    ]);
  });
});

describe('A deploy task', () => {
  const deployer = identityOf('usr_ada', ['agent:execute', 'workflow:execute']);
  const giveDeploy = async (tasks: Tasks) => {
    const settings = { deployWorkflow: 'wfl_1' };
    const { id: workspaceId } = await ground.workspaces.create(ada, { name: 'w', settings });
    return tasks.add(deployer, { type: 'deploy', workspaceId, input: { prompt: 'v2' } });
  };

  test('runs the workspace’s workflow to its end, without an agent', async () => {
    const tasks = await start();
    const { id, workspaceId } = await giveDeploy(tasks);
    await expect.poll(async () => (await tasks.read(ada, id)).status).toBe('running');
    expect(ground.workflow.started).toEqual([
      { key: `${id}:1`, inputs: { prompt: 'v2', taskId: id, workspaceId } },
    ]);
    ground.workflow.state = { status: 'completed', result: { end: { url: 'x' } } };
    expect(await untilEnded(tasks, id)).toMatchObject({
      status: 'completed',
      result: { text: '{"end":{"url":"x"}}' },
      artefacts: [{ kind: 'execution', executionId: 'exe_1', workflowId: 'wfl_1' }],
    });
  });

  test('fails as its workflow does, and when that cannot be run', async () => {
    const tasks = await start();
    ground.workflow.state = { status: 'failed', error: { message: 'no disk' } };
    const first = await giveDeploy(tasks);
    expect((await untilEnded(tasks, first.id)).failure).toEqual({
      code: 'deploy_failed',
      message: 'no disk',
    });
    const error = { message: 'it took longer', code: 'WORKFLOW_TIMEOUT' };
    ground.workflow.state = { status: 'failed', error };
    const late = await giveDeploy(tasks);
    expect((await untilEnded(tasks, late.id)).failure?.code).toBe('timeout');
    ground.workflow.refusal = new Fault('not_found', 'there is no such workflow');
    const second = await giveDeploy(tasks);
    const { failure, attempt } = await untilEnded(tasks, second.id);
    expect([failure?.code, attempt]).toEqual(['deploy_failed', 1]);
  });

  test('that is called off calls its execution off', async () => {
    const tasks = await start();
    const { id } = await giveDeploy(tasks);
    await expect.poll(async () => (await tasks.read(ada, id)).status).toBe('running');
    await tasks.cancel(ada, id);
    await expect.poll(() => ground.workflow.cancelled, { interval: 5 }).toEqual(['exe_1']);
  });
});

test('each change of state is told, in order, and an end with its result', async () => {
  const tasks = await start();
  ground.agents.set({ id: 'agt_1' });
  const told: unknown[] = [];
  tasks.listen(({ status, attempt, result }) => told.push([status, attempt, result?.text]));
  ground.mesh.work = ({ answer }) => answer('ok');
  const { id } = await tasks.add(ada, task());
  await untilEnded(tasks, id);
  expect(told).toEqual([
    ['queued', 0, undefined],
    ['assigned', 1, undefined],
    ['running', 1, undefined],
    ['completed', 1, 'ok'],
  ]);
});

test('a workspace that is deleted takes its tasks with it, and what runs is called off', async () => {
  const tasks = await start();
  const { id: workspaceId } = await ground.workspaces.create(ada, { name: 'w' });
  ground.agents.set({ id: 'agt_1', workspaceId });
  await tasks.add(ada, task({ workspaceId }));
  await begunCount(1);
  await tasks.removeWorkspace(workspaceId);
  await expect.poll(() => ground.mesh.begun[0]?.signal.aborted, { interval: 5 }).toBe(true);
  const root = identityOf('usr_root', ['*']);
  expect((await tasks.list(root, { limit: 10, offset: 0 })).total).toBe(0);
});
