import { status } from '@grpc/grpc-js';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { certifiedClient } from '../grpc/testing.ts';
import { startMesh } from '../testing.ts';
import { reply, startAgent } from './testing.ts';

type Mesh = Awaited<ReturnType<typeof startMesh>>;

let mesh: Mesh;
let call: Awaited<ReturnType<Mesh['callAs']>>;

beforeEach(async () => {
  mesh = await startMesh();
  call = await mesh.callAs('usr_1');
});

afterEach(() => mesh?.[Symbol.asyncDispose]());

/** Stops the mesh as its process does. */
async function stop(): Promise<void> {
  await mesh.host.http.close(5_000);
  await mesh[Symbol.asyncDispose]();
}

/** An agent that keeps what it is asked until it is told. */
async function startHolding(agentId: string) {
  const held: ServerResponse[] = [];
  const agent = await startAgent(({ method }, response) => {
    if (method === 'POST') held.push(response);
    else reply(response, 200, {});
  });
  await call('POST', '/api/v1/agents/register', {
    agentId,
    capabilities: ['chat'],
    endpoints: { rest: agent.url },
  });
  return { ...agent, held };
}

const taskFor = (targetAgent: string) => ({
  targetAgent,
  task: { type: 'chat', input: {}, timeout: 60_000 },
});
const execute = (agentId: string) => call('POST', '/api/v1/tasks/execute', taskFor(agentId));

/** Asks over gRPC, on a connection that stands already. */
async function openAsker() {
  const client = await certifiedClient(call, { agentId: 'asker', port: mesh.grpcPort });
  await call('POST', '/api/v1/agents/register', { agentId: 'asker', capabilities: ['ask'] });
  return {
    ask: (agentId: string) => {
      const { targetAgent, task } = taskFor(agentId);
      const request = { targetAgent, task: { ...task, input: { fields: {} } } };
      const deadlineMs = 60_000;
      return client.call('AgentCommunication', 'ExecuteTask', { request, deadlineMs });
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

test('whoever asked gets what an agent answers while the mesh stops, by whichever door', async () => {
  await using agent = await startHolding('holder');
  using asker = await openAsker();
  const answers = Promise.all([asker.ask('holder'), execute('holder')]);
  await expect.poll(() => agent.held.length).toBe(2);
  const stopped = stop();
  await expect.poll(() => mesh.host.http.app.server.listening).toBe(true);
  for (const response of agent.held) reply(response, 200, { result: null });
  const [grpc, rest] = await answers;
  // Null is a result too.
  expect(grpc).toMatchObject({ code: status.OK, body: { result: { nullValue: 'NULL_VALUE' } } });
  expect(rest).toMatchObject({ status: 200, body: { status: 'completed', result: null } });
  await stopped;
});

test('whoever asked an agent that does not answer learns that the task was interrupted', async () => {
  await using agent = await startHolding('holder');
  using asker = await openAsker();
  const answers = Promise.all([asker.ask('holder'), execute('holder')]);
  await expect.poll(() => agent.held.length).toBe(2);
  const stopped = stop();
  const [grpc, rest] = await answers;
  expect(grpc.code).toBe(status.UNAVAILABLE);
  expect(grpc.metadata.get('error-code')).toEqual(['TASK_INTERRUPTED']);
  expect([rest.status, rest.body.error.code]).toEqual([502, 'TASK_INTERRUPTED']);
  await stopped;
});

test('an agent that waits for tasks waits no longer than the mesh does', async () => {
  await call('POST', '/api/v1/agents/register', { agentId: 'quiet', capabilities: ['chat'] });
  const waits = [1, 2].map(() => call('GET', '/api/v1/agents/quiet/inbox?wait=60'));
  await call('GET', '/api/v1/agents/quiet/inbox');
  // Without a limit to the grace: only who is let go ends.
  await mesh.host.http.close(600_000);
  for (const { status: code, body } of await Promise.all(waits))
    expect([code, body.tasks]).toEqual([200, []]);
});

test('an agent of an inbox answers while the mesh stops; else who waits is told to come again', async () => {
  await call('POST', '/api/v1/agents/register', { agentId: 'quiet', capabilities: ['chat'] });
  const answered = execute('quiet');
  const inbox = '/api/v1/agents/quiet/inbox';
  const { body: taken } = await call('GET', `${inbox}?wait=10&limit=1`);
  const left = execute('quiet');
  expect((await call('GET', `${inbox}?wait=10`)).body.tasks).toHaveLength(1);
  const stopped = stop();
  const answer = await call('POST', `${inbox}/${taken.tasks[0].taskId}`, { result: 'done' });
  expect(answer.status).toBe(200);
  expect(await answered).toMatchObject({ status: 200, body: { result: 'done' } });
  expect(await left).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  await stopped;
});
