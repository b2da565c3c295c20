import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import type { GrpcCallerIdentity } from '../grpc/mesh-operations.ts';
import { swarmOperations } from './operations.ts';
import { openSwarmDatabase, SwarmGround } from './testing.ts';

let database: Database;

beforeAll(async () => {
  database = await openSwarmDatabase();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

function callerOf(agentId: string, ownerId = `owner of ${agentId}`): GrpcCallerIdentity {
  return {
    agentId,
    ownerId,
    traceparent: undefined,
    idempotencyKey: undefined,
    signal: new AbortController().signal,
  };
}

test('agents create, join, vote and read by their certificates', async () => {
  const ground = new SwarmGround();
  await using swarms = ground.open(database);
  const operations = swarmOperations(swarms);
  const agents = ground.addAgents(4);
  const request = {
    name: 'release',
    agents,
    consensus: { threshold: 4 },
    task: { type: 'deploy' },
  };
  const created = await operations.createSwarm(request, callerOf('a1'));
  expect(created).toMatchObject({ status: 'active', faultTolerance: { byzantine: 1, quorum: 4 } });
  const { swarmId } = created as { swarmId: string };
  await operations.joinSwarm({ swarmId, agentId: 'a2' }, callerOf('a2'));
  for (const agentId of agents) {
    const vote = { swarmId, agentId, vote: 'reject', confidence: 0.25 };
    // A certificate that was issued to somebody else before the agent was its owner's.
    const stale = operations.vote(vote, callerOf(agentId, 'usr_eve'));
    await expect(stale).rejects.toMatchObject({ reason: 'not_agent_owner' });
    expect(await operations.vote(vote, callerOf(agentId))).toMatchObject({ accepted: true });
  }
  const status = await operations.swarmStatus({ swarmId }, callerOf('a9'));
  expect(status).toMatchObject({ status: 'rejected', finalDecision: 'reject', confidence: 0.25 });
});

test('what no schema of gRPC refuses, the swarms refuse', async () => {
  const ground = new SwarmGround();
  await using swarms = ground.open(database);
  const { createSwarm } = swarmOperations(swarms);
  const body = { name: 'release', agents: ground.addAgents(2), task: { type: 'deploy' } };
  for (const consensus of [{ type: 'raft' }, { threshold: 3 }, { timeout: -1 }, { timeout: 0.5 }]) {
    const creation = async () => createSwarm({ ...body, consensus }, callerOf('a1'));
    await expect(creation()).rejects.toMatchObject({ code: 'invalid' });
  }
});
