import {
  credentials,
  loadPackageDefinition,
  Metadata,
  status,
  type ChannelCredentials,
} from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { RateLimiter } from '../../kit/rate-limit.ts';
import { issueFor, openAuthorityGround } from '../certificates/testing.ts';
import { loadDefinition, type MeshDefinition } from './definition.ts';
import { clientsOf, fixedCredentials, startMeshGrpc, TestClient } from './testing.ts';

type Mesh = Awaited<ReturnType<typeof startMeshGrpc>>;

/** What the loader makes of the reflection service. */
interface ReflectionPackage {
  readonly grpc: {
    readonly reflection: { readonly v1: { readonly ServerReflection: Reflection } };
  };
}

type Reflection = new (
  target: string,
  channel: ChannelCredentials,
) => { ServerReflectionInfo(): Duplex; close(): void };

const require = createRequire(import.meta.url);

let mesh: Mesh;
let definition: MeshDefinition;
let client: TestClient;
let owners: Map<string, string>;
let hangs: AbortSignal[];
let limiter: RateLimiter;

beforeAll(async () => {
  owners = new Map();
  hangs = [];
  definition = await loadDefinition();
  limiter = new RateLimiter({ perMinute: 60, burst: 100_000 });
  mesh = await startMeshGrpc({
    ownerOf: (agentId) => owners.get(agentId),
    limiter: { take: (key, now) => limiter.take(key, now) },
    callMsMax: 300,
    operations: {
      swarmStatus: ({ swarmId }) => {
        if (swarmId !== 'swm_1') throw new Fault('conflict', 'no', { reason: swarmId });
        throw new Fault('not_found', `there is no swarm ${swarmId}`, {
          reason: 'swarm_not_found',
          detail: { swarmId },
          retryAfter: 7,
        });
      },
      verify: () => Promise.reject(new Error('the database password is hunter2')),
      discover: (_, { signal }) => {
        hangs.push(signal);
        return new Promise<object>(() => {});
      },
    },
  });
  client = (await clientsOf(mesh.target))(
    fixedCredentials(await issueFor(mesh.authority, 'a1', 'usr_1')),
  );
});

beforeEach(() => {
  mesh.seen.length = 0;
  owners.clear();
});

afterAll(async () => {
  client[Symbol.dispose]();
  await mesh[Symbol.asyncDispose]();
});

const registration = {
  agentId: 'a1',
  capabilities: ['chat'],
  metadata: { fields: { region: { stringValue: 'eu' }, tags: { listValue: { values: [] } } } },
  endpoints: { grpc: '127.0.0.1:1' },
};

/** What a client sees whose handshake is refused. */
const unreached = {
  code: status.UNAVAILABLE,
  details: expect.not.stringContaining('Channel closed'),
};

/** Registers with other credentials, on a connection of its own. */
async function registerWith(channel: ReturnType<typeof fixedCredentials>) {
  using other = new TestClient(definition, mesh.target, channel);
  return await other.call('AgentCommunication', 'RegisterAgent', { request: registration });
}

test('without a client certificate there is no connection', async () => {
  const { ca } = mesh.identity.current;
  const answer = await registerWith(credentials.createSsl(Buffer.from(ca)));
  expect(answer).toMatchObject(unreached);
  expect(mesh.seen).toEqual([]);
});

test('without TLS there is no connection', async () => {
  const answer = await registerWith(credentials.createInsecure());
  expect(answer.code).toBe(status.UNAVAILABLE);
  expect(mesh.seen).toEqual([]);
});

test('a certificate of a foreign authority gets no connection, even under the same names', async () => {
  const foreign = await openAuthorityGround();
  try {
    const issued = await issueFor(await foreign.open(), 'a1', 'usr_1');
    const { ca } = mesh.identity.current;
    const answer = await registerWith(fixedCredentials({ ...issued, ca }));
    expect(answer).toMatchObject(unreached);
    expect(mesh.seen).toEqual([]);
  } finally {
    await foreign[Symbol.asyncDispose]();
  }
});

test('an expired certificate gets no connection, and none that stands outlives its own', async () => {
  const soon = await mesh.ground.open({ leafLifeMs: 1_500 });
  const issued = await issueFor(soon, 'a1', 'usr_1');
  using brief = new TestClient(definition, mesh.target, fixedCredentials(issued));
  const call = () => brief.call('AgentCommunication', 'RegisterAgent', { request: registration });
  expect((await call()).code).toBe(status.OK);
  await expect.poll(async () => (await call()).code).toBe(status.UNAUTHENTICATED);
  expect(await registerWith(fixedCredentials(issued))).toMatchObject(unreached);
});

test('the certificate of the mesh itself speaks for no agent', async () => {
  const answer = await registerWith(fixedCredentials(mesh.identity.current));
  expect(answer.code).toBe(status.UNAUTHENTICATED);
  expect(mesh.seen).toEqual([]);
});

test('an agent cannot speak for another', async () => {
  const claims = [
    ['AgentCommunication', 'RegisterAgent', { ...registration, agentId: 'a2' }],
    ['AgentCommunication', 'Deregister', { agentId: 'a2' }],
    ['SwarmCoordination', 'JoinSwarm', { swarmId: 'swm_1', agentId: 'a2' }],
    ['SwarmCoordination', 'VoteOnTask', { swarmId: 'swm_1', agentId: 'a2', vote: 'approve' }],
    ['ACAPProtocol', 'AttestCapability', { agentId: 'a2', capability: 'chat', proof: {} }],
  ] as const;
  for (const [service, method, request] of claims) {
    const answer = await client.call(service, method, { request });
    expect([method, answer.code]).toEqual([method, status.PERMISSION_DENIED]);
    expect(answer.metadata.get('error-code')).toEqual(['AGENT_MISMATCH']);
  }
  expect(mesh.seen).toEqual([]);
});

test('a certificate from before the agent came to another owner is worth nothing', async () => {
  owners.set('a1', 'usr_2');
  const refused = await client.call('AgentCommunication', 'RegisterAgent', {
    request: registration,
  });
  expect(refused.code).toBe(status.UNAUTHENTICATED);
  owners.set('a1', 'usr_1');
  const taken = await client.call('AgentCommunication', 'RegisterAgent', { request: registration });
  expect(taken.code).toBe(status.OK);
});

test('requests that REST would refuse are refused', async () => {
  const requests = [
    ['AgentCommunication', 'RegisterAgent', { capabilities: ['chat'] }],
    ['AgentCommunication', 'RegisterAgent', { agentId: 'a1', capabilities: ['x'.repeat(129)] }],
    ['SwarmCoordination', 'VoteOnTask', { swarmId: 's', agentId: 'a1', vote: 'maybe' }],
    [
      'SwarmCoordination',
      'VoteOnTask',
      { swarmId: 's', agentId: 'a1', vote: 'approve', confidence: 2 },
    ],
    ['AgentCommunication', 'ExecuteTask', {}],
  ] as const;
  for (const [service, method, request] of requests) {
    const answer = await client.call(service, method, { request });
    expect([method, answer.code]).toEqual([method, status.INVALID_ARGUMENT]);
  }
  expect(mesh.seen).toEqual([]);
});

test('a message of more than a mebibyte is refused', async () => {
  const request = { ...registration, capabilities: ['x'.repeat(1_100_000)] };
  const answer = await client.call('AgentCommunication', 'RegisterAgent', { request });
  expect(answer.code).toBe(status.RESOURCE_EXHAUSTED);
});

test('free-form fields nested without end harm nobody', async () => {
  let deep: object = { stringValue: 'x' };
  for (let depth = 0; depth < 3_000; depth += 1) deep = { listValue: { values: [deep] } };
  const request = { ...registration, metadata: { fields: { deep } } };
  const answer = await client.call('AgentCommunication', 'RegisterAgent', { request });
  expect(answer.code).not.toBe(status.UNAVAILABLE);
  const next = await client.call('AgentCommunication', 'RegisterAgent', { request: registration });
  expect(next.code).toBe(status.OK);
});

test('a refusal carries its reason and its details, for people and for programs', async () => {
  const answer = await client.call('SwarmCoordination', 'GetSwarmStatus', {
    request: { swarmId: 'swm_1' },
  });
  expect(answer).toMatchObject({ code: status.NOT_FOUND, details: 'there is no swarm swm_1' });
  expect(answer.metadata.get('error-code')).toEqual(['SWARM_NOT_FOUND']);
  expect(answer.metadata.get('request-id')).toEqual([expect.stringMatching(/^req_/)]);
  const [bytes] = answer.metadata.get('grpc-status-details-bin');
  const { Status, ErrorInfo, RetryInfo } = definition.details;
  const { code, details } = Status.deserialize(bytes as Buffer) as {
    code: number;
    details: { typeUrl: string; value: Buffer }[];
  };
  expect(code).toBe(status.NOT_FOUND);
  expect(ErrorInfo.deserialize(details[0]!.value)).toMatchObject({
    reason: 'SWARM_NOT_FOUND',
    domain: 'mesh.ennead',
    metadata: { swarmId: 'swm_1' },
  });
  expect(RetryInfo.deserialize(details[1]!.value)).toEqual({ retryDelay: { seconds: 7 } });
});

test.each([
  ['swarm_ended', status.FAILED_PRECONDITION],
  ['voting_began', status.FAILED_PRECONDITION],
  ['swarm_full', status.FAILED_PRECONDITION],
  ['vote_conflict', status.ALREADY_EXISTS],
])('a conflict %s says what kind it is', async (reason, code) => {
  const request = { swarmId: reason };
  const answer = await client.call('SwarmCoordination', 'GetSwarmStatus', { request });
  expect(answer.code).toBe(code);
  expect(answer.metadata.get('error-code')).toEqual([reason.toUpperCase()]);
});

test('what fails inside is not told to the caller', async () => {
  const request = { attestationId: 'att_1', agentId: 'a1', capability: 'chat' };
  const answer = await client.call('ACAPProtocol', 'VerifyCapability', { request });
  expect(answer).toMatchObject({ code: status.INTERNAL, details: 'internal error' });
});

test('a call that hangs ends by the limit, and its work is called off', async () => {
  const request = { capabilities: ['chat'] };
  const answer = await client.call('AgentCommunication', 'DiscoverAgents', { request });
  expect(answer.code).toBe(status.DEADLINE_EXCEEDED);
  expect(hangs.at(-1)?.aborted).toBe(true);
});

test('a caller that gives up earlier calls the work off', async () => {
  const request = { capabilities: ['chat'] };
  const count = hangs.length;
  const answer = await client.call('AgentCommunication', 'DiscoverAgents', {
    request,
    deadlineMs: 100,
  });
  expect(answer.code).toBe(status.DEADLINE_EXCEEDED);
  await expect.poll(() => hangs[count]?.aborted).toBe(true);
});

test('more calls than the limit of the owner are refused with the time to wait', async () => {
  const before = limiter;
  limiter = new RateLimiter({ perMinute: 1, burst: 1 });
  const call = () => client.call('AgentCommunication', 'RegisterAgent', { request: registration });
  expect((await call()).code).toBe(status.OK);
  const refused = await call();
  expect(refused.code).toBe(status.RESOURCE_EXHAUSTED);
  limiter = before;
});

test('an operation gets plain JSON, the certificate’s agent and owner, and the trace', async () => {
  const metadata = new Metadata();
  metadata.set('traceparent', '00-aa-bb-01');
  const answer = await client.call('AgentCommunication', 'RegisterAgent', {
    request: registration,
    metadata,
  });
  expect(answer.code).toBe(status.OK);
  expect(mesh.seen[0]).toMatchObject({
    operation: 'register',
    request: {
      agentId: 'a1',
      capabilities: ['chat'],
      metadata: { region: 'eu', tags: [] },
      endpoints: { grpc: '127.0.0.1:1' },
    },
    caller: { agentId: 'a1', ownerId: 'usr_1', traceparent: '00-aa-bb-01' },
  });
});

test.each([
  ['AgentCommunication', 'ExecuteTask', { targetAgent: 'a\0', task: { type: 'chat' } }],
  [
    'AgentCommunication',
    'ExecuteTask',
    { task: { type: 'chat', input: { fields: { 'a\0': { stringValue: '' } } } } },
  ],
  ['ACAPProtocol', 'RevokeAttestation', { attestationId: 'att_1\0' }],
  ['ACAPProtocol', 'RevokeAttestation', { attestationId: 'att_1', reason: 'stolen\0' }],
  ['ACAPProtocol', 'VerifyCapability', { attestationId: '\0', agentId: 'a1', capability: 'x' }],
] as const)('U+0000 in %s.%s is refused: %j', async (service, method, request) => {
  const answer = await client.call(service, method, { request });
  expect(answer.code).toBe(status.INVALID_ARGUMENT);
  expect(mesh.seen).toEqual([]);
});

test('an idempotency key is what it is over REST', async () => {
  const task = { type: 'chat' };
  const execute = (idempotencyKey: string) =>
    client.call('AgentCommunication', 'ExecuteTask', { request: { task, idempotencyKey } });
  expect((await execute('k'.repeat(255))).code).toBe(status.OK);
  expect(mesh.seen[0]?.caller.idempotencyKey).toBe('k'.repeat(255));
  for (const key of ['', 'k'.repeat(256), 'a b', 'k\0', 'ü']) {
    await execute(key);
    expect(() => mesh.seen.at(-1)?.caller.idempotencyKey).toThrow('1 to 255');
  }
});

test('a task goes in and comes out with any JSON in it', async () => {
  const input = { fields: { prompt: { stringValue: 'hi' }, context: { structValue: {} } } };
  const request = { targetAgent: 'a2', task: { type: 'chat', input, timeout: 5_000 } };
  const answer = await client.call('AgentCommunication', 'ExecuteTask', { request });
  expect(answer.code).toBe(status.OK);
  expect(mesh.seen[0]?.request).toEqual({
    targetAgent: 'a2',
    task: {
      type: 'chat',
      input: { prompt: 'hi', context: {} },
      timeout: 5_000,
      priority: 'normal',
    },
  });
});

test.each([
  ['__proto__', { stringValue: 'x' }],
  ['constructor', { structValue: { fields: { prototype: { boolValue: true } } } }],
])('a request with the key %s is refused wherever JSON may stand', async (name, value) => {
  const deep = { listValue: { values: [{ structValue: { fields: { [name]: value } } }] } };
  // Built so that a key named `__proto__` is one of the object's own.
  const forged = { fields: Object.fromEntries([[name, value]]) };
  const task = (input: object) => ({ type: 'chat', input });
  const asked = [
    ['AgentCommunication', 'RegisterAgent', { agentId: 'a1', metadata: forged }],
    ['AgentCommunication', 'ExecuteTask', { task: task(forged) }],
    ['AgentCommunication', 'ExecuteTask', { task: task({ fields: { deep } }) }],
    ['SwarmCoordination', 'CreateSwarm', { task: task(forged) }],
  ] as const;
  for (const [service, method, request] of asked) {
    const answer = await client.call(service, method, { request });
    expect([method, answer.code]).toEqual([method, status.INVALID_ARGUMENT]);
    expect(answer.metadata.get('error-code')).toEqual(['INVALID_JSON']);
  }
  expect(mesh.seen).toEqual([]);
});

test('each method does its own operation', async () => {
  const task = { type: 'review', input: { fields: {} } };
  const swarm = { name: 's', agents: ['a1'], consensus: { threshold: 1, timeout: 5_000 }, task };
  await client.call('SwarmCoordination', 'CreateSwarm', { request: swarm });
  const member = { swarmId: 'swm_1', agentId: 'a1' };
  await client.call('SwarmCoordination', 'JoinSwarm', { request: member });
  await client.call('SwarmCoordination', 'VoteOnTask', { request: { ...member, vote: 'reject' } });
  const proof = { type: 'zero-knowledge', commitment: '0x0', challenge: '0x1', response: '0x2' };
  const attestation = { agentId: 'a1', capability: 'chat', proof };
  await client.call('ACAPProtocol', 'AttestCapability', { request: attestation });
  await client.call('ACAPProtocol', 'RevokeAttestation', { request: { attestationId: 'att_1' } });
  await client.call('AgentCommunication', 'Deregister', { request: { agentId: 'a1' } });
  expect(mesh.seen.map(({ operation, request }) => [operation, request])).toEqual([
    ['createSwarm', { ...swarm, task: { type: 'review', input: {} } }],
    ['joinSwarm', member],
    ['vote', { ...member, vote: 'reject' }],
    ['attest', attestation],
    ['revoke', { attestationId: 'att_1' }],
    ['deregister', { agentId: 'a1' }],
  ]);
});

test('the health service answers for the server and each of its services', async () => {
  const check = (service: string) =>
    client.call(definition.health, 'Check', { request: { service } });
  expect((await check('')).body).toEqual({ status: 'SERVING' });
  expect((await check('ennead.mesh.v1.ACAPProtocol')).body).toEqual({ status: 'SERVING' });
  expect((await check('other')).code).toBe(status.NOT_FOUND);
});

test('reflection tells a client without our files what there is', async () => {
  const issued = await issueFor(mesh.authority, 'a1', 'usr_1');
  const path = require.resolve('@grpc/reflection');
  const proto = join(dirname(path), '../proto/grpc/reflection/v1/reflection.proto');
  const { ServerReflection } = (
    loadPackageDefinition(await load(proto)) as unknown as ReflectionPackage
  ).grpc.reflection.v1;
  const reflection = new ServerReflection(mesh.target, fixedCredentials(issued));
  const stream = reflection.ServerReflectionInfo();
  const answers: { listServicesResponse?: { service: { name: string }[] } }[] = [];
  stream.on('data', (answer) => answers.push(answer));
  stream.write({ listServices: '*' });
  await expect.poll(() => answers.length).toBe(1);
  stream.end();
  reflection.close();
  const names = answers[0]?.listServicesResponse?.service.map(({ name }) => name) ?? [];
  expect(names).toEqual(
    expect.arrayContaining([
      'ennead.mesh.v1.AgentCommunication',
      'ennead.mesh.v1.SwarmCoordination',
      'ennead.mesh.v1.ACAPProtocol',
      'grpc.health.v1.Health',
    ]),
  );
});

test('the server speaks nothing but HTTP/2', async () => {
  const { ca, certificate, privateKey } = await issueFor(mesh.authority, 'a1', 'usr_1');
  const socket = connect({
    host: '127.0.0.1',
    port: mesh.server.port,
    ca,
    cert: certificate,
    key: privateKey,
    ALPNProtocols: ['http/1.1'],
  });
  await new Promise<void>((resolve) => {
    socket.once('error', () => resolve());
    socket.once('close', () => resolve());
  });
  expect(socket.destroyed).toBe(true);
});
