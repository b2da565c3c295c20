import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { GrpcCaller } from './grpc-agents.ts';
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
let execute: GrpcCaller['execute'];

beforeAll(async () => {
  ground = await openTasksGround();
  mesh = await startTasks(ground, { grpc: { execute: (...call) => execute(...call) } });
  ground.directory.put(agentOf('g', { endpoints: { grpc: 'agent:1' } }));
});
afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});

const ask = (targetAgent = 'g') =>
  mesh.execute({ targetAgent, task: { type: 'chat', input: {}, timeout: 5_000 } });

test.each([
  [new Fault('invalid', 'no such task'), 502],
  [new Fault('upstream', 'broken'), 502],
  [new Fault('unavailable', 'lost', { reason: 'connection_lost' }), 502],
  [new Fault('unavailable', 'away', { reason: 'agent_unreachable' }), 503],
  [new Fault('deadline', 'late'), 504],
])('what a gRPC agent fails with is said as over REST: %s', async (fault, status) => {
  execute = () => Promise.reject(fault);
  expect((await ask()).status).toBe(status);
});

test('an agent is called by its id at its gRPC address', async () => {
  execute = async ({ endpoint, agentId, ownerId, task, traceparent }) => ({
    result: { endpoint, agentId, ownerId, type: task.type, traceparent },
  });
  const { result } = (await ask()).body;
  expect(result).toEqual({
    endpoint: 'agent:1',
    agentId: 'g',
    ownerId: 'usr_owner',
    type: 'chat',
    traceparent: expect.stringContaining(String(mesh.spans.at(-1)?.spanId)),
  });
});

test('an agent that one address does not reach is called at the other', async () => {
  await using agent = await startAgent((_, response) => reply(response, 503, {}));
  ground.directory.put(agentOf('both', { endpoints: { rest: agent.url, grpc: 'agent:1' } }));
  execute = async () => ({ status: 'completed', result: 'by gRPC' });
  expect((await ask('both')).body.result).toBe('by gRPC');
});

test.each(['failed', 'cancelled'])(
  'a task that the agent ended as %s has failed',
  async (state) => {
    execute = async () => ({ status: state, result: { error: 'no disk' } });
    const { status, body } = await ask();
    expect([status, body.error]).toMatchObject([
      502,
      { code: 'AGENT_FAILED', details: { agentId: 'g', agentState: state, agentError: 'no disk' } },
    ]);
    const { taskId } = body.error.details;
    expect((await mesh.call('GET', `/api/v1/tasks/${taskId}`)).body).toMatchObject({
      status: 'failed',
      error: { code: 'AGENT_FAILED' },
    });
    expect(mesh.told.at(-1)).toMatchObject({ type: 'task-failed', data: { taskId } });
    expect(ground.directory.observed.at(-1)).toEqual({ agentId: 'g', isFailure: true });
    expect(
      mesh.spans.find(({ attributes }) => attributes['mesh.task.id'] === taskId),
    ).toMatchObject({
      status: { code: 2 },
    });
  },
);

test.each([{ status: 'running', result: 1 }, { status: 'rejected' }, {}])(
  'an answer that does not end the task is a bad one: %j',
  async (answer) => {
    execute = async () => answer;
    const { status, body } = await ask();
    expect([status, body.error.code]).toEqual([502, 'INVALID_ANSWER']);
  },
);

test('a result of null and one without a status are results', async () => {
  execute = async () => ({ status: 'completed' });
  expect((await ask()).body).toMatchObject({ status: 'completed', result: null });
  execute = async () => ({ result: 'plain' });
  expect((await ask()).body).toMatchObject({ status: 'completed', result: 'plain' });
});
