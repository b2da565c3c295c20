import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import { messageOf } from './inbox-serving.ts';
import type { OpenServing, Serving, ServingAgent } from './serving.ts';
import type { AgentTask } from './task-desk.ts';

export interface ListenOptions {
  /** 0, any free one, unless told. */
  readonly port?: number | undefined;
  /** 127.0.0.1 unless told. */
  readonly host?: string | undefined;
  /** Where the mesh reaches the server, when that is not `http://host:port`. */
  readonly url?: string | undefined;
}

const bodyBytesMax = 1024 * 1024;

/**
 * Takes tasks with a small HTTP server. The path has a secret part that only the mesh learns, so that
 * nobody else on the network hands out tasks.
 */
export function serveOverHttp(options: ListenOptions): OpenServing {
  return async (agent) => {
    const secret = randomBytes(18).toString('base64url');
    const desk = new HttpDesk(agent, `/${secret}`);
    const server = createServer((request, response) => void desk.handle(request, response));
    const { host = '127.0.0.1', port = 0 } = options;
    await listen(server, port, host);
    const { port: actual } = server.address() as AddressInfo;
    const base = options.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
    return {
      endpoints: { rest: `${base.replace(/\/+$/, '')}/${secret}` },
      begin: () => {},
      close: async () => {
        await new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        });
      },
    } satisfies Serving;
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

class HttpDesk {
  readonly #agent: ServingAgent;
  readonly #prefix: string;

  constructor(agent: ServingAgent, prefix: string) {
    this.#agent = agent;
    this.#prefix = prefix;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response);
    } catch (error) {
      const status = error instanceof Fault ? error.status : 500;
      const retryAfter = error instanceof Fault ? error.retryAfter : undefined;
      if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
      reply(response, status, { error: { message: messageOf(error) } });
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    const tasks = `${this.#prefix}/tasks`;
    if (method === 'POST' && url === tasks) return this.#perform(request, response);
    if (method === 'DELETE' && url.startsWith(`${tasks}/`)) {
      const isOpen = this.#agent.desk.cancel(url.slice(tasks.length + 1));
      return reply(response, isOpen ? 200 : 404, { cancelled: isOpen });
    }
    if (method === 'GET' && url === `${this.#prefix}/healthz`) {
      return reply(response, 200, { status: 'healthy' });
    }
    throw new Fault('not_found', 'there is nothing here');
  }

  async #perform(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The mesh alone knows the path, and this is what it sends.
    const given = parseJsonBody(await readText(request)) as AgentTask;
    const traceparent = request.headers['traceparent'];
    const task = typeof traceparent === 'string' ? { ...given, traceparent } : given;
    const known = this.#agent.desk.find(task.taskId);
    if (known) return reply(response, 409, { result: await known });
    reply(response, 200, { result: await this.#agent.desk.perform(task) });
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Fault('too_large', 'the task is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}
