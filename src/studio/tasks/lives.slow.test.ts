import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { openTaskGround } from './ground-testing.ts';
import { identityOf, taskOf as task, untilEnded } from './testing.ts';

const ada = identityOf('usr_ada');
let ground: Awaited<ReturnType<typeof openTaskGround>>;

beforeAll(async () => {
  ground = await openTaskGround();
});
afterEach(() => ground.clear());
afterAll(() => ground[Symbol.asyncDispose]());

const start = (limits: Parameters<typeof ground.startTasks>[0] = {}) => ground.startTasks(limits);
const begunCount = (count: number) =>
  expect.poll(() => ground.mesh.begun.length, { interval: 5 }).toBe(count);

describe('A task survives', () => {
  test('a restart of the studio while its agent goes on: it is done once', async () => {
    ground.agents.set({ id: 'agt_1' });
    const first = await start();
    const { id } = await first.add(ada, task());
    await begunCount(1);
    await ground.leave(first);
    const second = await start();
    expect(second.counts('agt_1')).toEqual({ running: 1, queued: 0 });
    ground.mesh.begun[0]?.answer({ text: 'done', artefacts: [], model: 'm' });
    expect(await untilEnded(second, id)).toMatchObject({
      status: 'completed',
      attempt: 1,
      result: { text: 'done', model: 'm' },
      artefacts: [],
    });
    expect(ground.mesh.begun).toHaveLength(1);
  });

  test('a restart between its assignment and the mesh’s word: it is asked for by the same key', async () => {
    ground.agents.set({ id: 'agt_1' });
    ground.mesh.refuse = () => {
      throw new Fault('unavailable', 'the mesh is away');
    };
    const first = await start();
    const { id } = await first.add(ada, task());
    await expect.poll(async () => (await first.read(ada, id)).status).toBe('assigned');
    await ground.leave(first);
    ground.mesh.refuse = () => {};
    ground.mesh.work = ({ answer }) => answer('ok');
    const second = await start();
    expect(await untilEnded(second, id)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(ground.mesh.begun.map(({ key }) => key)).toEqual([`${id}:1`]);
  });

  test('the death of its agent: the old attempt is called off, a new one begins', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    const { id } = await tasks.add(ada, task({ wantedAgent: 'agt_1' }));
    await begunCount(1);
    ground.agents.set({ id: 'agt_1', status: 'restarting', restarts: 1 });
    await expect.poll(() => ground.mesh.begun[0]?.signal.aborted, { interval: 5 }).toBe(true);
    await expect.poll(async () => (await tasks.read(ada, id)).status).toBe('queued');
    ground.mesh.work = ({ answer }) => answer('second time');
    ground.agents.set({ id: 'agt_1', status: 'running' });
    expect(await untilEnded(tasks, id)).toMatchObject({
      status: 'completed',
      attempt: 2,
      result: { text: 'second time' },
    });
  });

  test('the death of its agent while the studio was down', async () => {
    ground.agents.set({ id: 'agt_1' });
    const first = await start();
    const { id } = await first.add(ada, task());
    await expect.poll(async () => (await first.read(ada, id)).status).toBe('running');
    await ground.leave(first);
    ground.agents.set({ id: 'agt_1', restarts: 1 });
    ground.mesh.work = ({ answer }) => answer('again');
    const second = await start();
    expect(await untilEnded(second, id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(ground.mesh.begun[0]?.signal.aborted).toBe(true);
  });

  test('an answer that came just before its agent ended counts', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    const { id } = await tasks.add(ada, task());
    await expect.poll(async () => (await tasks.read(ada, id)).status).toBe('running');
    ground.mesh.begun[0]?.answer('just in time');
    ground.agents.set({ id: 'agt_1', status: 'stopped' });
    expect(await untilEnded(tasks, id)).toMatchObject({
      status: 'completed',
      result: { text: 'just in time' },
    });
  });

  test('a mesh that is away for a while', async () => {
    const tasks = await start();
    ground.agents.set({ id: 'agt_1' });
    let isAway = true;
    ground.mesh.refuse = () => {
      if (isAway) throw new Fault('unavailable', 'the mesh is away');
    };
    ground.mesh.work = ({ answer }) => answer('ok');
    const { id } = await tasks.add(ada, task());
    await expect.poll(async () => (await tasks.read(ada, id)).status).toBe('assigned');
    isAway = false;
    expect(await untilEnded(tasks, id)).toMatchObject({ status: 'completed', attempt: 1 });
  });
});

test('a task that is called off is told to its agent by the next life of the studio where the last could not', async () => {
  ground.agents.set({ id: 'agt_1' });
  const first = await start();
  const { id } = await first.add(ada, task());
  await expect.poll(async () => (await first.read(ada, id)).status).toBe('running');
  ground.mesh.refuse = (call) => {
    if (call === 'cancelTask') throw new Fault('unavailable', 'the mesh is away');
  };
  await first.cancel(ada, id);
  await ground.leave(first);
  expect(ground.mesh.begun[0]?.signal.aborted).toBe(false);
  ground.mesh.refuse = () => {};
  await start();
  await expect.poll(() => ground.mesh.begun[0]?.signal.aborted, { interval: 5 }).toBe(true);
});

test('of two replicas one gives tasks to agents, and the other goes on when it has gone', async () => {
  ground.agents.set({ id: 'agt_1' });
  const limits = { leaseMs: 90 };
  const first = await start(limits);
  // On PGlite whoever starts is alone and leads: the first one notices with its next beat.
  const second = await start(limits);
  const given = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? first : second).add(ada, task())),
  );
  ground.mesh.work = ({ answer }) => answer('ok');
  for (const begun of ground.mesh.begun) begun.answer('ok');
  for (const { id } of given) {
    expect(await untilEnded(first, id)).toMatchObject({ status: 'completed', attempt: 1 });
  }
  expect(ground.mesh.begun).toHaveLength(20);
  await ground.leave(second);
  const last = await first.add(ada, task());
  expect(await untilEnded(first, last.id)).toMatchObject({ status: 'completed' });
});
