import {
  experimental,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createEgress } from '../../kit/egress/egress.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { findFreePort, silentLog } from '../../kit/testing.ts';
import type { CertificateAuthority } from '../certificates/authority.ts';
import { RenewedIdentity } from '../certificates/renewed-identity.ts';
import { issueFor, openAuthorityGround } from '../certificates/testing.ts';
import { AgentGrpcClient, type AgentTaskCall } from './agent-client.ts';
import { loadDefinition } from './definition.ts';
import { toValue } from './struct.ts';
import { openOwnIdentity } from './testing.ts';

type Call = ServerUnaryCall<Record<string, unknown>, object>;
type Behaviour = (call: Call, respond: sendUnaryData<object>) => void;

const lifetime = new Lifetime(silentLog);
let authority: CertificateAuthority;
let client: AgentGrpcClient;
let endpoint: string;
let behaviour: Behaviour;
let seen: Call[];

const task = {
  taskId: 'tsk_1',
  type: 'chat',
  input: { prompt: 'hi', context: { depth: [1, null, { a: true }] } },
  timeoutMs: 5_000,
  priority: 'normal',
} as const;

const done = { status: 'completed', result: { text: 'yo' } };
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** A call of the agent a1 of usr_owner at its own place; what is named replaces the rest. */
const execute = (given: Partial<AgentTaskCall> = {}) =>
  client.execute({ endpoint, agentId: 'a1', ownerId: 'usr_owner', task, traceparent, ...given });

const succeed: Behaviour = ({ request }, respond) =>
  respond(null, {
    taskId: request['taskId'],
    status: 'completed',
    result: toValue({ text: 'yo' }),
  });

beforeAll(async () => {
  const ground = lifetime.own('the ground', await openAuthorityGround());
  authority = await ground.open();
  const egress = lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed: true }));
  const identity = await openOwnIdentity(authority);
  client = await AgentGrpcClient.open({ identity, egress });
  endpoint = await startAgent('a1');
  lifetime.defer('the client', () => client[Symbol.dispose]());
  lifetime.defer('the identity', () => identity[Symbol.dispose]());
});

beforeEach(() => {
  seen = [];
  behaviour = succeed;
});

afterAll(() => lifetime[Symbol.asyncDispose]());

/** An agent's own server, which trusts the mesh and nobody else; answers its host:port. */
async function startAgent(
  agentId: string,
  { signer = authority, ownerId = 'usr_owner' } = {},
): Promise<string> {
  const identity = await RenewedIdentity.open({
    issue: async () => {
      const issued = await issueFor(signer, agentId, ownerId);
      return { ...issued, ca: authority.bundle };
    },
    onFailure: () => {},
  });
  return startServer(identity);
}

async function startServer(identity: RenewedIdentity): Promise<string> {
  const { services } = await loadDefinition();
  const server = new Server();
  server.addService(services.AgentCommunication, {
    ExecuteTask: (call: Call, respond: sendUnaryData<object>) => {
      seen.push(call);
      behaviour(call, respond);
    },
  });
  const channel = experimental.createCertificateProviderServerCredentials(identity, identity, true);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', channel, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  lifetime.defer('an agent', () => {
    server.forceShutdown();
    identity[Symbol.dispose]();
  });
  return `127.0.0.1:${port}`;
}

const fail = (code: status, details: string): Behaviour => {
  return (_, respond) => respond({ code, details, metadata: new Metadata() });
};

test('nothing listens there: the agent had not begun', async () => {
  const free = `127.0.0.1:${await findFreePort()}`;
  await expect(execute({ endpoint: free })).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'agent_unreachable',
  });
});

test('a server with another agent’s certificate gets no task', async () => {
  await expect(execute({ agentId: 'a2' })).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'agent_unreachable',
  });
  expect(seen).toEqual([]);
});

test('a server whose certificate was issued to another owner gets no task, before and after', async () => {
  const place = await startAgent('a1', { ownerId: 'usr_other' });
  await expect(execute({ endpoint: place })).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'agent_unreachable',
  });
  expect(seen).toEqual([]);
  await expect(execute({ endpoint: place, ownerId: 'usr_other' })).resolves.toEqual(done);
  await expect(execute({ endpoint: place })).rejects.toMatchObject({ code: 'unavailable' });
  expect(seen).toHaveLength(1);
});

test('a server with the certificate of the mesh itself gets no task', async () => {
  const place = await startServer(await openOwnIdentity(authority));
  await expect(execute({ endpoint: place })).rejects.toMatchObject({ code: 'unavailable' });
  expect(seen).toEqual([]);
});

test('a server whose certificate is of a foreign authority gets no task', async () => {
  const foreign = lifetime.own('foreign', await openAuthorityGround());
  const place = await startAgent('a1', { signer: await foreign.open() });
  await expect(execute({ endpoint: place })).rejects.toMatchObject({ code: 'unavailable' });
  expect(seen).toEqual([]);
});

test('a server without TLS gets no task', async () => {
  const server = new Server();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  await expect(execute({ endpoint: `127.0.0.1:${port}` })).rejects.toMatchObject({
    code: 'unavailable',
  });
  server.forceShutdown();
});

test('what is no host:port, and what may not be called, is refused before anything is dialled', async () => {
  const malformed = [
    'localhost',
    'unix:/tmp/x',
    'http://localhost:1',
    'a@b:1',
    'localhost:1/x',
    '',
  ];
  for (const place of malformed) {
    await expect(execute({ endpoint: place })).rejects.toMatchObject({ code: 'invalid' });
  }
  for (const place of [
    '169.254.169.254:80',
    '10.0.0.1:443',
    '[::ffff:10.0.0.1]:1',
    '0xa000001:1',
  ]) {
    await expect(execute({ endpoint: place })).rejects.toMatchObject({
      reason: 'egress_blocked',
    });
  }
});

test('an agent’s refusals keep their meaning', async () => {
  const codes = [
    [status.INVALID_ARGUMENT, 'invalid'],
    [status.NOT_FOUND, 'not_found'],
    [status.PERMISSION_DENIED, 'forbidden'],
    [status.RESOURCE_EXHAUSTED, 'exhausted'],
    [status.INTERNAL, 'upstream'],
    [status.UNKNOWN, 'upstream'],
  ] as const;
  for (const [code, expected] of codes) {
    behaviour = fail(code, 'no\u001b[2J thanks');
    await expect(execute()).rejects.toMatchObject({
      code: expected,
      message: expect.not.stringContaining('\u001b'),
    });
  }
});

test('an agent that says it is unavailable may have begun', async () => {
  behaviour = fail(status.UNAVAILABLE, 'restarting');
  await expect(execute()).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'connection_lost',
  });
});

test('an answer of more than a mebibyte is not taken', async () => {
  behaviour = (_, respond) => respond(null, { result: toValue('x'.repeat(2_000_000)) });
  await expect(execute()).rejects.toMatchObject({
    code: 'upstream',
    reason: 'result_too_large',
  });
});

test('an agent that hangs is given up on by the task’s deadline', async () => {
  behaviour = () => {};
  const brief = execute({ task: { ...task, timeoutMs: 200 } });
  await expect(brief).rejects.toMatchObject({ code: 'deadline' });
});

test('an abort tells the agent and rejects with its own reason', async () => {
  const controller = new AbortController();
  const cancelled = new Promise<void>((resolve) => {
    behaviour = (call) => {
      call.once('cancelled', () => resolve());
      controller.abort(new Error('never mind'));
    };
  });
  const running = execute({ signal: controller.signal });
  await expect(running).rejects.toThrow('never mind');
  await cancelled;
  await expect(execute({ signal: controller.signal })).rejects.toThrow('never mind');
});

test('an agent gets the task and who asks, and its result comes back as JSON', async () => {
  let asker: string | undefined;
  behaviour = (call, respond) => {
    asker = call.getAuthContext().sslPeerCertificate?.subjectaltname;
    succeed(call, respond);
  };
  await expect(execute()).resolves.toEqual(done);
  const [call] = seen;
  expect(call?.request).toMatchObject({
    targetAgent: 'a1',
    taskId: 'tsk_1',
    task: { type: 'chat', timeout: 5_000, priority: 'normal' },
    idempotencyKey: 'tsk_1',
  });
  expect(call?.metadata.getMap()).toMatchObject({ traceparent, 'idempotency-key': 'tsk_1' });
  expect(asker).toContain('URI:spiffe://ennead/mesh');
});

test('a name of the loopback reaches the agent too', async () => {
  const place = endpoint.replace('127.0.0.1', 'localhost');
  await expect(execute({ endpoint: place })).resolves.toEqual(done);
});

test.each([
  ['__proto__', { isAdmin: true }],
  ['constructor', { prototype: { isAdmin: true } }],
])('an answer with the key %s is refused, however deep it lies', async (name, value) => {
  const forged = Object.fromEntries([[name, value]]);
  behaviour = (_, respond) => respond(null, { result: toValue({ list: [{ forged }] }) });
  await expect(execute()).rejects.toMatchObject({ code: 'upstream', reason: 'invalid_answer' });
});

test('any JSON comes through a task unchanged', async () => {
  behaviour = ({ request }, respond) => {
    const { input } = request['task'] as { input: object };
    respond(null, { result: { structValue: input } });
  };
  const input = { '': 0, nested: { list: [[], {}, null, -1.5, 'ü', false] }, __proto__x: 'p' };
  await expect(execute({ task: { ...task, input } })).resolves.toEqual({
    result: input,
  });
  behaviour = (_, respond) => respond(null, { status: 'completed', result: toValue(null) });
  await expect(execute()).resolves.toEqual({ status: 'completed', result: null });
  behaviour = (_, respond) => respond(null, {});
  await expect(execute()).resolves.toEqual({});
});
