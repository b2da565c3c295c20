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
  execute = async (endpoint, agentId, { type }) => ({ endpoint, agentId, type });
  const { result } = (await ask()).body;
  expect(result).toEqual({ endpoint: 'agent:1', agentId: 'g', type: 'chat' });
});

test('an agent that one address does not reach is called at the other', async () => {
  await using agent = await startAgent((_, response) => reply(response, 503, {}));
  ground.directory.put(agentOf('both', { endpoints: { rest: agent.url, grpc: 'agent:1' } }));
  execute = async () => 'by gRPC';
  expect((await ask('both')).body.result).toBe('by gRPC');
});
