import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerWith } from '../kit/http/testing.ts';
import { TestClient as SocketClient } from '../kit/sockets/testing.ts';
import { createAgentKeys, joinMesh } from './agent.ts';
import { createKeyPair, proveKey } from './attestation/schnorr.ts';
import { createRequest } from './certificates/request.ts';
import { certifiedClient } from './grpc/testing.ts';
import { startMesh } from './testing.ts';

let mesh: Awaited<ReturnType<typeof startMesh>>;

beforeAll(async () => {
  mesh = await startMesh();
});

afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

/** A gRPC client with a certificate that the mesh issued over REST. */
async function grpcClient(subject: string, agentId: string) {
  return grpcClientOf(await mesh.callAs(subject), agentId);
}

function grpcClientOf(call: ReturnType<typeof callerWith>, agentId: string) {
  return certifiedClient(call, { agentId, port: mesh.grpcPort });
}

describe('agents that join by the client library', () => {
  it('are discovered, do tasks, are told of on the stream, and decide with signed votes', async () => {
    const stream = await new SocketClient(`${mesh.url}/api/v1/activity/stream`, {
      headers: { authorization: `Bearer ${await mesh.tokenOf('usr_watch')}` },
    }).opened();
    stream.send({
      action: 'subscribe',
      ack: true,
      filters: { agentIds: ['voter-1'], eventTypes: ['task-executed'] },
    });
    expect(await stream.next()).toMatchObject({ type: 'subscribed' });
    const token = await mesh.tokenOf('usr_crew');
    const agents = await Promise.all(
      ['voter-1', 'voter-2', 'voter-3', 'voter-4'].map((agentId) =>
        joinMesh({
          url: mesh.url,
          token,
          agentId,
          capabilities: ['review'],
          onTask: ({ input }) => ({ echoed: input['text'] }),
          onVote: () => ({ vote: 'approve', confidence: 0.9 }),
          ...createAgentKeys(),
        }),
      ),
    );
    const call = await mesh.callAs('usr_asker');
    const found = await call('POST', '/api/v1/agents/discover', { capabilities: ['review'] });
    expect(found.body.totalFound).toBe(4);
    const done = await call('POST', '/api/v1/tasks/execute', {
      targetAgent: 'voter-1',
      task: { type: 'review', input: { text: 'hi' }, timeout: 5_000, priority: 'normal' },
    });
    expect(done).toMatchObject({
      status: 200,
      body: { status: 'completed', result: { echoed: 'hi' }, executedBy: 'voter-1' },
    });
    expect(await stream.next()).toMatchObject({
      type: 'task-executed',
      agentId: 'voter-1',
      data: { taskId: done.body.taskId, status: 'completed' },
    });
    const made = await call('POST', '/api/v1/swarms', {
      name: 'reviewers',
      agents: agents.map(({ agentId }) => agentId),
      consensus: { type: 'byzantine-fault-tolerant', threshold: 3, timeout: 20_000 },
      task: { type: 'review', input: { change: 1 } },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'active', consensusReached: false, faultTolerance: { byzantine: 1 } },
    });
    const path = `/api/v1/swarms/${made.body.swarmId}/status`;
    await expect.poll(async () => (await call('GET', path)).body.status).toBe('consensus-reached');
    const { body: decided } = await call('GET', path);
    expect(decided).toMatchObject({ finalDecision: 'approve', certified: true });
    expect(decided.agentVotes.length).toBeGreaterThanOrEqual(3);
    const attested = await agents[0]?.attest('review');
    expect(attested?.verified).toBe(true);
    const verification = { agentId: 'voter-1', capability: 'review' };
    const verify = () =>
      call('POST', '/api/v1/acap/verify', {
        attestationId: attested?.attestationId,
        ...verification,
      });
    expect((await verify()).body.valid).toBe(true);
    await Promise.all(agents.map((agent) => agent.leave()));
    expect((await verify()).body.valid).toBe(false);
    stream.socket.close();
  });
});

describe('gRPC', () => {
  const nowSeconds = () => Math.floor(Date.now() / 1000);

  it.each([
    ['the subject', { kind: 'subject', id: 'usr_of_subject' }],
    ['the session or API key', { kind: 'session', id: 'ses_of_session' }],
  ] as const)('takes no certificate of a token that ended with %s', async (_, what) => {
    const claims = {
      sub: `usr_of_${what.kind}`,
      sid: `ses_of_${what.kind}`,
      permissions: ['mesh:communicate'],
    };
    const certified = async (more: object) => {
      const token = await mesh.issuer.sign({ ...claims, ...more });
      return grpcClientOf(callerWith(mesh.url, token), `of-${what.kind}`);
    };
    using client = await certified({});
    const register = (by = client) =>
      by.call('AgentCommunication', 'RegisterAgent', {
        request: { agentId: `of-${what.kind}`, capabilities: [] },
      });
    expect((await register()).code).toBe(status.OK);
    const revokedAt = nowSeconds();
    const expiresAt = revokedAt + 3_600;
    mesh.issuer.revocations.add({ ...what, revokedAt, expiresAt, tokenEpoch: 1 });
    const refused = await register();
    expect(refused.code).toBe(status.UNAUTHENTICATED);
    expect(refused.metadata.get('error-code')).toEqual(['CERTIFICATE_REVOKED']);
    const asked = await client.call('AgentCommunication', 'DiscoverAgents', { request: {} });
    expect(asked.code).toBe(status.UNAUTHENTICATED);
    using later = await certified({ token_epoch: 1, sid: `ses_after_${what.kind}` });
    expect((await register(later)).code).toBe(status.OK);
  });

  it('tells of a vote of thirty days as REST does', async () => {
    using client = await grpcClient('usr_far', 'far-1');
    const call = await mesh.callAs('usr_far');
    await call('POST', '/api/v1/agents/register', { agentId: 'far-1', capabilities: [] });
    const consensus = { type: 'byzantine-fault-tolerant', threshold: 1, timeout: 2_592_000_000 };
    const request = { name: 'far', agents: ['far-1'], consensus, task: { type: 'sum' } };
    const made = await client.call('SwarmCoordination', 'CreateSwarm', { request });
    const { swarmId } = made.body;
    const read = await client.call('SwarmCoordination', 'GetSwarmStatus', { request: { swarmId } });
    expect(read.body.consensus).toMatchObject(consensus);
    const { body } = await call('GET', `/api/v1/swarms/${swarmId}/status`);
    expect(body.consensus).toEqual(consensus);
  });

  it('serves the three services to a certificate, and speaks for its agent alone', async () => {
    using client = await grpcClient('usr_grpc', 'grpc-1');
    const registered = await client.call('AgentCommunication', 'RegisterAgent', {
      request: { agentId: 'grpc-1', capabilities: ['sum'], metadata: {}, endpoints: {} },
    });
    expect(registered).toMatchObject({ code: status.OK, body: { agentId: 'grpc-1' } });
    const foreign = await client.call('AgentCommunication', 'RegisterAgent', {
      request: { agentId: 'grpc-2', capabilities: ['sum'], metadata: {}, endpoints: {} },
    });
    expect(foreign.code).toBe(status.PERMISSION_DENIED);
    const found = await client.call('AgentCommunication', 'DiscoverAgents', {
      request: { capabilities: ['sum'] },
    });
    expect(found.body).toMatchObject({ totalFound: 1, agents: [{ agentId: 'grpc-1' }] });
    const made = await client.call('SwarmCoordination', 'CreateSwarm', {
      request: {
        name: 'alone',
        agents: ['grpc-1'],
        consensus: { type: 'byzantine-fault-tolerant', threshold: 1, timeout: 10_000 },
        task: { type: 'sum', input: { fields: {} } },
      },
    });
    expect(made).toMatchObject({ code: status.OK, body: { status: 'active' } });
    const { swarmId } = made.body;
    const vote = { swarmId, agentId: 'grpc-1', vote: 'approve', confidence: 1 };
    const voted = await client.call('SwarmCoordination', 'VoteOnTask', { request: vote });
    expect(voted.code).toBe(status.OK);
    const read = await client.call('SwarmCoordination', 'GetSwarmStatus', { request: { swarmId } });
    expect(read.body).toMatchObject({ status: 'consensus-reached', finalDecision: 'approve' });
    const attested = await client.call('ACAPProtocol', 'AttestCapability', {
      request: {
        agentId: 'grpc-1',
        capability: 'sum',
        proof: {
          type: 'zero-knowledge',
          commitment: `0x${'00'.repeat(32)}`,
          challenge: `0x${'00'.repeat(32)}`,
          response: `0x${'00'.repeat(32)}`,
        },
      },
    });
    expect(attested).toMatchObject({ code: status.OK, body: { verified: false } });
    const gone = await client.call('AgentCommunication', 'Deregister', {
      request: { agentId: 'grpc-1' },
    });
    expect(gone.code).toBe(status.OK);
  });

  it('revokes attestations of the certificate’s agent alone, not of its owner’s others', async () => {
    const token = await mesh.tokenOf('usr_two');
    const rest = { capabilities: ['x'], onTask: () => null, ...createAgentKeys() };
    const agentId = 'attested-1';
    const agent = await joinMesh({ url: mesh.url, token, agentId, ...rest });
    const { attestationId } = await agent.attest('x');
    using sibling = await grpcClient('usr_two', 'attested-2');
    const request = { attestationId };
    const refused = await sibling.call('ACAPProtocol', 'RevokeAttestation', { request });
    expect(refused.code).toBe(status.PERMISSION_DENIED);
    using own = await grpcClient('usr_two', agentId);
    const revoked = await own.call('ACAPProtocol', 'RevokeAttestation', { request });
    expect(revoked).toMatchObject({ code: status.OK, body: { revoked: true } });
    await agent.leave();
  });

  it('issues no certificate for an agent of somebody else', async () => {
    const owner = await mesh.callAs('usr_owner');
    await owner('POST', '/api/v1/agents/register', { agentId: 'owned', capabilities: ['x'] });
    const thief = await mesh.callAs('usr_thief');
    const { csr } = await createRequest('owned');
    const { status: code } = await thief('POST', '/api/v1/certificates', { agentId: 'owned', csr });
    expect(code).toBe(403);
  });
});

it('takes a proof of a key from whoever sent it first, and from nobody else', async () => {
  const keys = createKeyPair();
  const agentId = 'proved';
  const body = {
    agentId,
    capabilities: ['x'],
    publicKey: keys.publicKey,
    keyProof: proveKey(keys.secretKey, agentId),
  };
  const alice = await mesh.callAs('usr_alice');
  expect((await alice('POST', '/api/v1/agents/register', body)).status).toBe(201);
  expect((await alice('POST', '/api/v1/agents/register', body)).status).toBe(201);
  await alice('DELETE', `/api/v1/agents/${agentId}`);
  const bob = await mesh.callAs('usr_bob');
  const replayed = await bob('POST', '/api/v1/agents/register', body);
  expect([replayed.status, replayed.body.error.code]).toEqual([400, 'KEY_PROOF_INVALID']);
});

it('does not take a key back that another has replaced, by the proof it came with', async () => {
  const agentId = 'rekeyed';
  const [first, second] = [createKeyPair(), createKeyPair()].map(({ publicKey, secretKey }) => ({
    publicKey,
    keyProof: proveKey(secretKey, agentId),
  }));
  const call = await mesh.callAs('usr_rekeyed');
  const body = { agentId, capabilities: ['x'] };
  const register = (key: unknown) =>
    call('POST', '/api/v1/agents/register', { ...body, ...(key as object) });
  const setKey = (key: unknown) => call('PUT', `/api/v1/agents/${agentId}/key`, key);
  expect((await register(first)).status).toBe(201);
  expect((await setKey(second)).status).toBe(200);
  const refusals = [await setKey(first), await register(first)];
  await call('DELETE', `/api/v1/agents/${agentId}`);
  refusals.push(await register(first));
  for (const { status: code, body: said } of refusals) {
    expect([code, said.error.code]).toEqual([400, 'KEY_PROOF_INVALID']);
  }
  expect((await register(second)).status).toBe(201);
});

it('trusts nothing that a compromised key has signed', async () => {
  const token = await mesh.tokenOf('usr_signed');
  const agentId = 'signed-1';
  const rest = { capabilities: ['sign'], onTask: () => null, ...createAgentKeys() };
  const agent = await joinMesh({ url: mesh.url, token, agentId, ...rest });
  const call = await mesh.callAs('usr_signed');
  const find = async () => {
    const wanted = { capabilities: ['sign'], filters: { attested: true } };
    return (await call('POST', '/api/v1/agents/discover', wanted)).body.totalFound;
  };
  const verify = async ({ attestationId }: { attestationId: string }) => {
    const asked = { attestationId, agentId, capability: 'sign' };
    return (await call('POST', '/api/v1/acap/verify', asked)).body.valid;
  };
  const before = await agent.attest('sign');
  expect([await verify(before), await find()]).toEqual([true, 1]);
  const permissions = ['mesh:admin'];
  const admin = callerWith(mesh.url, await mesh.issuer.sign({ sub: 'usr_admin', permissions }));
  const rotated = await admin('POST', '/api/v1/acap/keys/rotate', { compromised: true });
  expect(rotated.status).toBe(200);
  expect([await verify(before), await find()]).toEqual([false, 0]);
  expect(await verify(await agent.attest('sign'))).toBe(true);
  expect([await verify(before), await find()]).toEqual([false, 1]);
  await agent.leave();
});

it('ends the tasks of an agent that is gone, and gives them to no next owner of its id', async () => {
  const alice = await mesh.callAs('usr_alice');
  const bob = await mesh.callAs('usr_bob');
  const agent = { agentId: 'handed-on', capabilities: ['x'] };
  await alice('POST', '/api/v1/agents/register', agent);
  const asked = alice('POST', '/api/v1/tasks/execute', {
    targetAgent: agent.agentId,
    task: { type: 'x', input: { prompt: 'secret' }, timeout: 20_000, priority: 'normal' },
  });
  await expect
    .poll(async () => {
      const path = `/api/v1/agents/${agent.agentId}/inbox?lease=5`;
      return (await alice('GET', path)).body.tasks.length;
    })
    .toBe(1);
  await alice('DELETE', `/api/v1/agents/${agent.agentId}`);
  expect((await asked).status).toBe(503);
  expect((await bob('POST', '/api/v1/agents/register', agent)).status).toBe(201);
  const { body } = await bob('GET', `/api/v1/agents/${agent.agentId}/inbox`);
  expect(body.tasks).toEqual([]);
});

it.each(['.', '..'])('does not register %s, which no path can name', async (agentId) => {
  const call = await mesh.callAs('usr_dots');
  const { status: code } = await call('POST', '/api/v1/agents/register', {
    agentId,
    capabilities: ['x'],
  });
  expect(code).toBe(400);
});

it('tells how its parts do, with true numbers', async () => {
  const call = await mesh.callAs('usr_count');
  await call('POST', '/api/v1/agents/register', { agentId: 'counted', capabilities: ['x'] });
  const { body } = await call('GET', '/api/v1/health');
  expect(body).toMatchObject({
    status: 'healthy',
    version: '1.0.0',
    services: { grpc: 'healthy', registry: 'healthy', swarm: 'healthy', acap: 'healthy' },
  });
  expect(body.metrics.totalAgents).toBeGreaterThanOrEqual(1);
});

describe('a number that JSON can write and nobody can hold', () => {
  const agent = { agentId: 'big', capabilities: ['a'] };
  it.each([
    ['agents/register', { ...agent, metadata: { list: ['@'] } }],
    ['tasks/execute', { targetAgent: 'big', task: { type: 'a', input: { deep: { n: '@' } } } }],
    ['swarms', { name: 's', agents: ['big'], task: { type: 'a', input: { n: '@' } } }],
  ])('is refused at %s', async (path, body) => {
    const response = await fetch(`${mesh.url}/api/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await mesh.tokenOf('usr_crew')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body).replace('"@"', '1e400'),
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('is too large'),
    ]);
  });
});
