import type { AddressInfo } from 'node:net';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Contract } from '../../kit/contract.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { Tracer, type SpanRecord } from '../../kit/trace/trace.ts';
import type { Agent, AgentDirectory } from '../agents/agent.ts';
import { meshEnvelope } from '../envelope.ts';
import { a2aHandlers } from '../routes/a2a.ts';
import { taskHandlers } from '../routes/tasks.ts';
import { a2aRoutes } from '../schemas/a2a.ts';
import { taskRoutes } from '../schemas/tasks.ts';
import type { GrpcCaller } from './grpc-agents.ts';
import { openTaskParts, type TaskParts } from './task-parts.ts';

/** An agent as the directory would have it. */
export function agentOf(agentId: string, given: Partial<Agent> = {}): Agent {
  return {
    agentId,
    registrationId: `reg_${agentId}`,
    ownerId: 'usr_owner',
    capabilities: ['chat'],
    metadata: {},
    endpoints: {},
    status: 'active',
    load: 0,
    registeredAtMs: 0,
    lastSeenMs: 0,
    isIdempotent: false,
    publicKey: undefined,
    voteKey: undefined,
    ...given,
  };
}

export interface Observed {
  readonly agentId: string;
  readonly isFailure: boolean;
}

/** A directory of the agents that tests put into it, in their order. */
export class TestDirectory implements AgentDirectory {
  readonly agents = new Map<string, Agent>();
  readonly observed: Observed[] = [];
  readonly occupied: { readonly agentId: string; readonly share: number }[] = [];

  put(...agents: readonly Agent[]): void {
    for (const agent of agents) this.agents.set(agent.agentId, agent);
  }

  get size(): number {
    return this.agents.size;
  }

  find(agentId: string): Agent | undefined {
    return this.agents.get(agentId);
  }

  candidates(capabilities: readonly string[]): readonly Agent[] {
    return [...this.agents.values()].filter((agent) =>
      capabilities.every((capability) => agent.capabilities.includes(capability)),
    );
  }

  observe(agentId: string, { isFailure }: { readonly isFailure: boolean }): void {
    this.observed.push({ agentId, isFailure });
  }

  occupy(agentId: string, share: number): void {
    this.occupied.push({ agentId, share });
  }
}

export interface ToldEvent {
  readonly type: string;
  readonly agentId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The routes of tasks and A2A alone, as the mesh has them among others. */
const contract = {
  name: 'mesh',
  title: 'Tasks',
  version: '1.0.0',
  description: 'Tasks of the mesh.',
  error: meshEnvelope.schema,
  routes: { ...taskRoutes, ...a2aRoutes },
} as const satisfies Contract;

export interface TasksGround extends AsyncDisposable {
  readonly database: Database;
  readonly bus: Bus;
  readonly directory: TestDirectory;
}

/** What replicas of the mesh share. */
export async function openTasksGround(): Promise<TasksGround> {
  const lifetime = new Lifetime(silentLog);
  const migrations = new URL('../migrations/', import.meta.url);
  const database = lifetime.own('the database', await openTestTables('mesh', migrations));
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const close = () => lifetime[Symbol.asyncDispose]();
  return { database, bus, directory: new TestDirectory(), [Symbol.asyncDispose]: close };
}

export interface TasksOptions {
  readonly grpc?: GrpcCaller;
  readonly queueLengthMax?: number;
  readonly concurrency?: number;
}

// Tests read whatever they expect; a wrong expectation fails them.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any;

/** The tasks of one replica behind HTTP. */
export async function startTasks(ground: TasksGround, options: TasksOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const told: ToldEvent[] = [];
  const spans: SpanRecord[] = [];
  const egress = lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed: true }));
  const parts = await openTaskParts({
    ...ground,
    ...options,
    egress,
    tracer: new Tracer((span) => spans.push(span)),
    log: silentLog,
    activity: { tell: (type, agentId, data) => told.push({ type, agentId, data }) },
  });
  const { url, issuer, close: closeHttp } = await serve(parts);
  lifetime.defer('http', closeHttp);
  lifetime.own('tasks', parts);
  const tokenOf = (subject: string, permissions = ['mesh:communicate']) =>
    issuer.sign({ sub: subject, permissions });
  const call = async (method: string, path: string, given: CallGiven = {}) => {
    const { as = 'usr_asker', body, headers, signal } = given;
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${await tokenOf(as)}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  };
  const execute = (body: unknown, given: CallGiven = {}) =>
    call('POST', '/api/v1/tasks/execute', { ...given, body });
  const close = () => lifetime[Symbol.asyncDispose]();
  return {
    ...parts,
    url,
    told,
    spans,
    call,
    execute,
    tokenOf,
    [Symbol.asyncDispose]: close,
  };
}

function parse(text: string): Answer {
  return JSON.parse(text);
}

async function serve({ runner: tasks, access, inbox, a2a }: TaskParts) {
  const { http, issuer } = await createTestServer(contract, { envelope: meshEnvelope });
  const card = { a2a, url: '', version: '1.0.0', listCapabilities: () => ['chat'] };
  http.serve(contract, { ...taskHandlers({ tasks, access, inbox }), ...a2aHandlers(card) });
  card.url = await listenAnywhere(http);
  return { url: card.url, issuer, close: () => http.close(0) };
}

export interface CallGiven {
  /** The subject that calls. */
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface AgentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Answer;
}

/** An agent of tests: an HTTP server that keeps what it was asked. */
export async function startAgent(
  answer: (request: AgentRequest, response: ServerResponse) => void | Promise<void>,
) {
  const requests: AgentRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) };
      requests.push(request);
      void answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers JSON. */
export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
