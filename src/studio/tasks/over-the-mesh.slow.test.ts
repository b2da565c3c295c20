import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../kit/client.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { joinMesh, type MeshAgent, type TaskWork } from '../../mesh/agent.ts';
import { meshContract } from '../../mesh/contract.ts';
import { startMesh } from '../../mesh/testing.ts';
import { openTaskGround } from './ground-testing.ts';
import { identityOf, taskOf, untilEnded } from './testing.ts';

const ada = identityOf('usr_ada');
let mesh: Awaited<ReturnType<typeof startMesh>>;
let ground: Awaited<ReturnType<typeof openTaskGround>>;

beforeAll(async () => {
  mesh = await startMesh();
  ground = await openTaskGround();
});
afterAll(async () => {
  await ground[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
});

async function join(agentId: string, onTask: TaskWork): Promise<MeshAgent> {
  const agent = await joinMesh({
    url: mesh.url,
    token: await mesh.tokenOf(agentId),
    agentId,
    capabilities: ['code_generation'],
    // From the inbox a task is not called back.
    listen: {},
    onTask,
  });
  ground.agents.set({ id: agentId });
  return agent;
}

async function startTasks() {
  await ground.clear();
  const token = () => mesh.tokenOf('svc_studio');
  const client = createClient(meshContract, {
    baseUrl: mesh.url,
    token,
    tracer: new Tracer(() => {}),
  });
  Object.assign(ground, { mesh: client });
  return ground.startTasks();
}

test('an agent of the client library does tasks, fails in its own words, and hears of an end', async () => {
  const tasks = await startTasks();
  const calledOff: string[] = [];
  await using agent = await join('agt_real', async ({ input }, { signal }) => {
    if (input['prompt'] === 'fail') throw new Error('the file is not there');
    if (input['prompt'] !== 'wait')
      return { text: `did ${String(input['prompt'])}`, artefacts: [] };
    await sleep(60_000, undefined, { signal }).catch(() => calledOff.push('wait'));
    return null;
  });
  const give = (prompt: string) =>
    tasks.add(ada, taskOf({ input: { prompt }, wantedAgent: 'agt_real' }));
  const [done, failed, waiting] = await Promise.all([give('it'), give('fail'), give('wait')]);
  expect(await untilEnded(tasks, done.id)).toMatchObject({
    status: 'completed',
    result: { text: 'did it' },
  });
  expect((await untilEnded(tasks, failed.id)).failure).toEqual({
    code: 'agent_failed',
    message: 'the file is not there',
  });
  await expect.poll(async () => (await tasks.read(ada, waiting.id)).status).toBe('running');
  await tasks.cancel(ada, waiting.id);
  expect((await untilEnded(tasks, waiting.id)).failure).toMatchObject({ code: 'cancelled' });
  await expect.poll(() => calledOff).toEqual(['wait']);
  await agent.leave();
});

test('a studio that starts again takes up what its agents do, and nothing is done twice', async () => {
  const first = await startTasks();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const begun: string[] = [];
  await using agent = await join('agt_real', async ({ input }) => {
    begun.push(String(input['studioTaskId']));
    await released;
    return { text: 'done', artefacts: [{ kind: 'file', path: 'a.ts' }] };
  });
  const given = await Promise.all([1, 2, 3].map(() => first.add(ada, taskOf())));
  await expect.poll(() => begun.length).toBe(3);
  await ground.leave(first);
  const second = await ground.startTasks();
  release();
  for (const { id } of given) {
    expect(await untilEnded(second, id)).toMatchObject({
      status: 'completed',
      attempt: 1,
      artefacts: [{ kind: 'file', path: 'a.ts' }],
    });
  }
  expect(begun).toHaveLength(3);
  await agent.leave();
});

test('a task that takes too long fails with timeout', async () => {
  const tasks = await startTasks();
  await using agent = await join('agt_real', (_task, { signal }) =>
    sleep(60_000, null, { signal }),
  );
  const { id } = await tasks.add(ada, taskOf({ requirements: { timeoutMs: 300 } }));
  expect((await untilEnded(tasks, id)).failure).toMatchObject({ code: 'timeout' });
  await agent.leave();
});
