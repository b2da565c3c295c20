import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { spawnModule } from '../../kit/database/testing.ts';
import { TestClient } from '../../kit/sockets/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { joinMesh, type JoinOptions, type MeshAgent } from '../../mesh/agent.ts';
import { startMesh } from '../../mesh/testing.ts';
import { openChatGround, startChat } from '../testing.ts';
import type { AgentProgress } from './orchestration.ts';
import { ProgressFeed } from './progress-feed.ts';
import { TaskWatch } from './task-watch.ts';
import { callerOf, openOrchestrationGround, openOrchestrations, untilEnded } from './testing.ts';

let mesh: Awaited<ReturnType<typeof startMesh>>;
let agents: MeshAgent[] = [];
/** What agents were asked to do: the orchestration and its step, in their order. */
const done: string[] = [];
let release = () => {};
let gate = Promise.resolve();

function closeGate(): void {
  gate = new Promise((resolve) => (release = resolve));
}

function noteOf(input: Readonly<Record<string, unknown>>): string {
  // Every step's input says where it belongs.
  const { id, step } = input['orchestration'] as { readonly id: string; readonly step: number };
  return `${id}:${step}`;
}

const patient: JoinOptions['onTask'] = async ({ input }) => {
  done.push(noteOf(input));
  await gate;
  return noteOf(input);
};

beforeAll(async () => {
  mesh = await startMesh();
  const joined = (agentId: string, over: Partial<JoinOptions>) =>
    joinMesh({
      url: mesh.url,
      token: () => mesh.tokenOf('usr_owner'),
      agentId,
      capabilities: ['work'],
      onTask: patient,
      ...over,
    });
  agents = await Promise.all([
    joined('inbox-1', {}),
    joined('http-1', { listen: {} }),
    joined('http-2', { listen: {}, metadata: { name: 'Second' } }),
    joined('broken', {
      listen: {},
      capabilities: ['break'],
      onTask: () => {
        throw new Error('out of ink');
      },
    }),
    joined('stuck', {
      listen: {},
      capabilities: ['wait'],
      onTask: (_task, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            done.push('stuck was called off');
            reject(new Error('called off'));
          });
        }),
    }),
  ]);
});

afterAll(async () => {
  for (const agent of agents) await agent.leave();
  await mesh?.[Symbol.asyncDispose]();
});

const adaOn = async () =>
  callerOf('ada', { credential: await mesh.issuer.sign({ sub: 'ada', permissions: [] }) });
const ownToken = () => mesh.tokenOf('svc_chat');

test('real agents do their parts, those that fail or take too long aside', async () => {
  await using ground = await openOrchestrationGround();
  await using replica = await openOrchestrations(ground, mesh.url, { ownToken });
  const { orchestrations } = replica;
  const ada = await adaOn();
  const request = { task: 'go', isParallel: true, timeoutMs: 3_000 };
  const started = await orchestrations.start(ada, {
    ...request,
    agents: ['inbox-1', 'http-1', 'Second', 'broken', 'wait'],
  });
  const ended = await untilEnded(orchestrations, started);
  expect(ended).toMatchObject({
    status: 'partial',
    progress: 1,
    steps: [
      { agentId: 'inbox-1', status: 'completed', result: `${ended.id}:1` },
      { agentId: 'http-1', status: 'completed', result: `${ended.id}:2` },
      { agentId: 'http-2', name: 'Second', status: 'completed', result: `${ended.id}:3` },
      { agentId: 'broken', status: 'failed' },
      { agentId: 'stuck', status: 'cancelled', error: { code: 'ORCHESTRATION_DEADLINE' } },
    ],
  });
  expect(ended.steps[3]?.error?.message).toContain('out of ink');
  await expect.poll(() => done).toContain('stuck was called off');
  const inOrder = { ...request, isParallel: false, agents: ['http-2', 'inbox-1'] };
  const second = await untilEnded(orchestrations, await orchestrations.start(ada, inOrder));
  expect(second).toMatchObject({ status: 'completed' });
  const asOwn = await mesh.callAs('svc_chat');
  const task = await asOwn('GET', `/api/v1/tasks/${second.steps[0]?.taskId}`);
  expect(task.body).toMatchObject({ status: 'completed', executedBy: 'http-2' });
});

test('tasks that nobody orchestrated are told too, while somebody listens', async () => {
  const bus = new LocalBus({ log: silentLog });
  const told: AgentProgress[] = [];
  const feed: ProgressFeed = new ProgressFeed({
    bus,
    log: silentLog,
    onAudience: (hasListeners) => watch.set(hasListeners),
  });
  const watch = new TaskWatch({
    meshUrl: mesh.url,
    token: { get: ownToken, forget: () => {} },
    onProgress: (progress) => feed.tellHere(progress),
    log: silentLog,
  });
  await feed.start();
  const stop = feed.listen((progress) => told.push(progress));
  const call = await mesh.callAs('usr_somebody');
  const task = { type: 'work', input: { orchestration: { id: 'none', step: 0 } } };
  await expect
    .poll(async () => {
      await call('POST', '/api/v1/tasks/execute', { targetAgent: 'http-1', task });
      return told.length;
    })
    .toBeGreaterThan(0);
  expect(told[0]).toMatchObject({ agentId: 'http-1', status: 'completed', progress: 1 });
  stop();
  await watch[Symbol.asyncDispose]();
  await feed[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
});

test('the whole service orchestrates, and its sockets tell of it', async () => {
  const { issuer } = mesh;
  await using ground = await openChatGround();
  await using chat = await startChat({ ground: { ...ground, issuer }, peers: { mesh: mesh.url } });
  const call = await chat.callAs('usr_eve', ['agent:execute']);
  const authorization = `Bearer ${await chat.tokenOf('usr_eve')}`;
  const tab = new TestClient(`${chat.url}/ws`, { headers: { authorization } });
  await tab.opened();
  tab.send({ event: 'subscribe', data: { type: 'agent_progress', agent_id: 'http-1' } });
  const started = await call('POST', '/api/agents/orchestrate', {
    body: { task: 'go', agents: ['Second', 'http-1'], options: { parallel: false } },
  });
  expect(started).toMatchObject({ status: 200, body: { status: 'running' } });
  const read = () => call('GET', started.body.progress_url);
  await expect.poll(async () => (await read()).body.status).toBe('completed');
  const [, second] = (await read()).body.agents;
  const common = { agent_id: 'http-1', task_id: second.task_id };
  expect(await tab.take(2)).toMatchObject([
    { event: 'agent_progress', data: { ...common, progress: 0, status: 'running' } },
    { event: 'agent_progress', data: { ...common, progress: 1, status: 'completed' } },
  ]);
  tab.socket.close();
  const query = '{ agentHealth(agentId: "http-1") { status uptime requestCount } }';
  const answered = await call('POST', '/graphql', { body: { query } });
  expect(answered.body).toMatchObject({
    data: { agentHealth: { status: 'active', uptime: expect.any(Number), requestCount: 0 } },
  });
});

/** Starts orchestrations of agents that wait, says which, and is killed. */
const doomed = `
  const [folder, meshUrl, own, token] = parameters;
  const { openDatabase } = await open('./database.ts');
  const { LocalBus } = await open('../bus/local-bus.ts');
  const { silentLog } = await open('../testing.ts');
  const testing = await open('../../chat/orchestrations/testing.ts');
  const database = await openDatabase({ folder });
  await database.migrate('chat', new URL(parameters[4]));
  const ground = { database, bus: new LocalBus({ log: silentLog }) };
  const over = { isAlone: true, ownToken: async () => own };
  const { orchestrations } = await testing.openOrchestrations(ground, meshUrl, over);
  const caller = testing.callerOf('ada', { credential: token });
  const agents = ['inbox-1', 'http-1', 'http-2'];
  const ids = [];
  for (let count = 0; count < 10; count += 1) {
    const request = { task: 'go', agents, isParallel: count % 2 === 0, timeoutMs: 60_000 };
    ids.push((await orchestrations.start(caller, request)).id);
  }
  print(ids.join(' '));
`;

test('what a killed process had begun is ended by the next, and no agent does anything twice', async () => {
  done.length = 0;
  closeGate();
  const folder = await mkdtemp(join(tmpdir(), 'ennead-orchestrations-'));
  const migrations = new URL('../migrations/', import.meta.url).href;
  const { credential } = await adaOn();
  const child = spawnModule(doomed, [folder, mesh.url, await ownToken(), credential, migrations]);
  let complaints = '';
  child.stderr.on('data', (text) => (complaints += String(text)));
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  const ids = String(line).trim().split(' ');
  expect(ids, complaints).toHaveLength(10);
  // Some were handed over, some perhaps not: whatever was is not done again.
  await expect.poll(() => done.length).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await once(child, 'exit');

  await using database = await openDatabase({ folder });
  await using bus = new LocalBus({ log: silentLog });
  const next = await openOrchestrations({ database, bus }, mesh.url, { isAlone: true, ownToken });
  release();
  for (const id of ids) {
    const ended = await untilEnded(next.orchestrations, { ownerId: 'ada', id });
    expect(ended).toMatchObject({ status: 'completed', progress: 1 });
    expect(ended.steps.map(({ result }) => result)).toEqual([`${id}:1`, `${id}:2`, `${id}:3`]);
  }
  expect(done).toHaveLength(30);
  expect(new Set(done).size).toBe(30);
  await next[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('one whose time ran out while no process lived ends as the next begins', async () => {
  await using ground = await openOrchestrationGround();
  const gone = await openOrchestrations(ground, mesh.url, { ownToken });
  const request = { task: 'x', agents: ['wait', 'http-1'], isParallel: false, timeoutMs: 500 };
  const { id, createdAtMs } = await gone.orchestrations.start(await adaOn(), request);
  await gone[Symbol.asyncDispose]();
  await expect.poll(() => Date.now() - createdAtMs).toBeGreaterThan(request.timeoutMs);
  await using next = await openOrchestrations(ground, mesh.url, { ownToken });
  const ended = await untilEnded(next.orchestrations, { ownerId: 'ada', id });
  expect(ended).toMatchObject({ status: 'failed', progress: 1 });
});
