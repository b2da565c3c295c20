import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Environment } from '../kit/config.ts';
import type { Database } from '../kit/database/database.ts';
import type { ReadJson } from '../kit/http/testing.ts';
import { listenAnywhere, startService, type TestIssuer } from '../kit/testing.ts';
import { modelsContract } from '../models/contract.ts';
import { gateway } from './service.ts';

/** What a scripted provider was sent. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** As it came. */
  readonly text: string;
  readonly body: ReadJson;
}

export type Script = (received: Received, response: ServerResponse) => void | Promise<void>;

/** A provider that a test scripts: a real server, with everything that it was sent. */
export interface ScriptedProvider extends AsyncDisposable {
  readonly url: string;
  /** Chats and embeddings that came; questions for models are answered beside. */
  readonly received: Received[];
  /** What it does with the next requests; the last one stays. */
  script(...scripts: Script[]): void;
}

export async function startProvider(...scripts: Script[]): Promise<ScriptedProvider> {
  const received: Received[] = [];
  let queue = scripts;
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const one = await read(request);
    if (one.method === 'GET') {
      response.writeHead(404).end();
      return;
    }
    received.push(one);
    const script = queue.length > 1 ? queue.shift() : queue[0];
    await script?.(one, response);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    script: (...next) => {
      queue = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { method = '', url: path = '', headers } = request;
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { method, path, headers, text, body };
}

/** Answers JSON. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Script {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (_received, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

/** Answers a stream of these texts as they are, one a chunk, and ends it. */
export function stream(texts: readonly string[], end: 'end' | 'hang' | 'cut' = 'end'): Script {
  return async (_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    for (const text of texts) {
      response.write(text);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (end === 'end') response.end();
    if (end === 'cut') response.destroy();
  };
}

/** OpenAI's whole answer. */
export function openAiAnswer(content: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    id: 'chatcmpl-up',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'up-model',
    choices: [
      { index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...fields,
  };
}

const chunkHead = {
  id: 'chatcmpl-up',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'up-model',
};

/** A chunk of OpenAI's stream, framed. */
export function openAiChunk(delta: unknown, finish: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...chunkHead, choices, usage: null })}\n\n`;
}

/** OpenAI's whole stream: the words, then the usage. */
export function openAiStream(words: readonly string[]): string[] {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: words.length,
    total_tokens: 10 + words.length,
  };
  return [
    openAiChunk({ role: 'assistant', content: '' }),
    ...words.map((content) => openAiChunk({ content })),
    openAiChunk({}, 'stop'),
    `data: ${JSON.stringify({ ...chunkHead, choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
}

/** What the gateway asks of the local runtime. */
function localRuntime(models: readonly string[]) {
  const capabilities = ['completion', 'tools', 'json', 'embedding'];
  const data = models.map((id) => ({ id, created: 0, capabilities }));
  return {
    [modelsContract.name]: true,
    listModels: () => Promise.resolve({ object: 'list', data }),
    ollamaTags: () => Promise.resolve({ models: [] }),
  };
}

export interface GatewayOptions {
  readonly environment?: Environment;
  readonly database?: Database;
  /** Whose tokens it takes; one of its own when absent. */
  readonly issuer?: TestIssuer;
  /** Where local models answer; there are none when absent. */
  readonly local?: { readonly url: string; readonly models: readonly string[] };
}

/** The gateway on a port of its own, reached as a client would. */
export async function startGateway({ local, ...options }: GatewayOptions = {}) {
  const running = await startService(gateway, {
    ...options,
    peers: local ? [{ name: modelsContract.name, url: local.url, grants: [] }] : [],
    // Only what the gateway asks of it.
    client: () => localRuntime(local?.models ?? []) as never,
  });
  const url = await listenAnywhere(running.host.http);
  const admin = await running.issuer.sign({ sub: 'usr_admin', permissions: ['*'] });
  const user = await running.issuer.sign({ sub: 'usr_one' });
  const caller = (token: string) => async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
  const asAdmin = caller(admin);
  return {
    ...running,
    url,
    admin,
    user,
    /** As somebody without any permission. */
    call: caller(user),
    asAdmin,
    /** Puts a provider that answers at this address. */
    put: async (name: string, settings: Readonly<Record<string, unknown>>) => {
      const answer = await asAdmin('PUT', `/api/v1/providers/${name}`, settings);
      if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
      return answer;
    },
  };
}

function parse(text: string): ReadJson {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
