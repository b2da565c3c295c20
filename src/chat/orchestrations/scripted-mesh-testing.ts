import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReadJson } from '../../kit/http/testing.ts';

/** An agent of a scripted mesh: what it makes of a task; what it throws is its failure. */
export interface ScriptedAgent {
  readonly agentId: string;
  readonly capabilities?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: string;
  readonly work?: (task: ScriptedTask) => unknown;
}

export interface ScriptedTask {
  readonly taskId: string;
  readonly key: string;
  readonly agentId: string;
  readonly type: string;
  readonly input: ReadJson;
  readonly timeout: number;
  /** What stood behind `Bearer`. */
  readonly credential: string;
  /** Aborted when it is called off. */
  readonly signal: AbortSignal;
}

interface KeptTask {
  readonly task: ScriptedTask;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  state: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A mesh that a test scripts: a real server that speaks the part of its contract that is asked for. */
export class ScriptedMesh implements AsyncDisposable {
  /** All that were begun, in their order. */
  readonly tasks: ScriptedTask[] = [];
  /** Credentials that agents were read with. */
  readonly readers: string[] = [];
  /** Answers instead of the mesh while it answers anything. */
  intercept: (method: string, path: string) => Answer | undefined = () => undefined;
  readonly #agents: readonly ScriptedAgent[];
  readonly #kept = new Map<string, KeptTask>();
  #server: Server | undefined;
  #port = 0;

  constructor(agents: readonly ScriptedAgent[]) {
    this.#agents = agents;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Answers again, with all that it knew. */
  async rise(): Promise<void> {
    const server = createServer((request, response) => void this.#handle(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Refuses connections from now on; its tasks go on. */
  async fall(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { controller } of this.#kept.values()) controller.abort();
    await this.fall();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://mesh.test');
    const place = { method: request.method ?? '', path: pathname, search: searchParams };
    const answer =
      this.intercept(place.method, pathname) ??
      (await this.#answer(place, text === '' ? {} : JSON.parse(text), request.headers));
    if (response.destroyed) return;
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer.body));
  }

  async #answer(
    { method, path, search }: { method: string; path: string; search: URLSearchParams },
    body: Readonly<Record<string, unknown>>,
    headers: IncomingMessage['headers'],
  ): Promise<Answer> {
    const credential = (headers.authorization ?? '').replace('Bearer ', '');
    const id = decodeURIComponent(path.split('/').at(-1) ?? '');
    if (path === '/api/v1/tasks/execute') {
      return this.#execute(body as never, { key: String(headers['idempotency-key']), credential });
    }
    if (path.startsWith('/api/v1/tasks/'))
      return this.#task(method, id, Number(search.get('wait')));
    this.readers.push(credential);
    if (path === '/api/v1/agents/discover') return this.#discover(body as never);
    if (path === '/api/v1/agents') {
      const agents = this.#agents.map(toAgent);
      return { status: 200, body: { agents, total: agents.length, limit: 100, offset: 0 } };
    }
    const agent = this.#agents.find(({ agentId }) => agentId === id);
    return agent ? { status: 200, body: toAgent(agent) } : refusal(404, 'AGENT_NOT_FOUND');
  }

  #discover({ capabilities, limit }: { capabilities: string[]; limit: number }): Answer {
    const able = this.#agents.filter((agent) =>
      capabilities.every((capability) => agent.capabilities?.includes(capability)),
    );
    const agents = able.slice(0, limit).map(toAgent);
    return { status: 200, body: { agents, totalFound: able.length } };
  }

  #execute(
    body: { targetAgent: string; task: { type: string; input: unknown; timeout: number } },
    { key, credential }: { readonly key: string; readonly credential: string },
  ): Answer {
    const held = [...this.#kept.values()].find(({ task }) => task.key === key);
    const kept = held ?? this.#begin(body, { key, credential });
    return { status: 202, body: { taskId: kept.task.taskId, status: 'running' } };
  }

  #begin(
    {
      targetAgent,
      task,
    }: { targetAgent: string; task: Pick<ScriptedTask, 'type' | 'input' | 'timeout'> },
    asked: { readonly key: string; readonly credential: string },
  ): KeptTask {
    const controller = new AbortController();
    const begun: ScriptedTask = {
      taskId: `tsk_${this.tasks.length + 1}`,
      agentId: targetAgent,
      ...task,
      ...asked,
      signal: controller.signal,
    };
    this.tasks.push(begun);
    const work = this.#agents.find(({ agentId }) => agentId === targetAgent)?.work ?? (() => null);
    const end = (state: KeptTask['state']): void => {
      if (kept.state['status'] === 'running') kept.state = { ...kept.state, ...state };
    };
    const ended = Promise.resolve(begun)
      .then(work)
      .then(
        (result) => end({ status: 'completed', result }),
        (error: Error) => end(failure('AGENT_FAILED', error.message)),
      );
    const state = { taskId: begun.taskId, status: 'running' };
    const kept: KeptTask = { task: begun, controller, ended, state };
    this.#kept.set(begun.taskId, kept);
    return kept;
  }

  async #task(method: string, taskId: string, wait: number): Promise<Answer> {
    const kept = this.#kept.get(taskId);
    if (!kept) return refusal(404, 'TASK_NOT_FOUND');
    if (method === 'DELETE') {
      if (kept.state['status'] !== 'running') return refusal(409, 'TASK_FINISHED');
      kept.state = {
        ...kept.state,
        ...failure('TASK_CANCELLED', 'called off'),
        status: 'cancelled',
      };
      kept.controller.abort();
      return { status: 200, body: kept.state };
    }
    const cancelled = new Promise((resolve) => {
      kept.task.signal.addEventListener('abort', resolve, { once: true });
      if (kept.task.signal.aborted) resolve(undefined);
    });
    if (wait > 0) await Promise.race([kept.ended, cancelled]);
    return { status: 200, body: kept.state };
  }
}

/** A mesh with these agents, which answers. */
export async function startScriptedMesh(agents: readonly ScriptedAgent[]): Promise<ScriptedMesh> {
  const mesh = new ScriptedMesh(agents);
  await mesh.rise();
  return mesh;
}

/** Work that ends only when it is called off, and as a failure. */
export function endless({ signal }: ScriptedTask): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('called off')), { once: true });
  });
}

function toAgent({ agentId, capabilities = [], metadata = {}, status = 'active' }: ScriptedAgent) {
  const registeredAt = new Date(Date.now() - 60_000).toISOString();
  return { agentId, capabilities, metadata, status, load: 0, endpoints: {}, registeredAt };
}

function failure(code: string, message: string) {
  return { status: 'failed', error: { code, message, details: {} } };
}

function refusal(status: number, code: string): Answer {
  return { status, body: { error: { code, message: 'refused', details: {}, requestId: 'r' } } };
}
