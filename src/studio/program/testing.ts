import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReadJson } from '../../kit/http/testing.ts';
import type { AgentTaskInput } from '../tasks/task.ts';
import type { Job } from './job.ts';
import { Model } from './suite/model.ts';
import { RegistryTools } from './suite/registry-tools.ts';
import { SuiteCalls } from './suite/suite-calls.ts';
import { WorkspaceDoor } from './suite/workspace-door.ts';

/** What a scripted model says to one question, or the refusal of the gateway. */
export type Said =
  | string
  | { readonly calls: readonly (readonly [string, unknown])[] }
  | { readonly status: number; readonly error: object }
  /** The connection breaks, as when the suite is killed. */
  | { readonly isBroken: true };

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: ReadJson;
}

/**
 * What of the suite an agent asks, on one port: a gateway that says what a test scripts, and the files and
 * settings of one workspace in memory, with the studio's own refusals.
 */
export async function startFakeSuite() {
  const asked: Asked[] = [];
  const files = new Map<string, string>();
  const settings: { testCommand?: readonly string[] } = {};
  const tools: { name: string; result: unknown }[] = [];
  let script: Said[] = [];
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      asked.push(one);
      if (one.path === '/api/v1/chat/completions') return say(response, script.shift() ?? '');
      if (one.path === '/mcp') return answerMcp(response, one.body, tools);
      const path = /^\/api\/v1\/workspaces\/[^/?]+\/files\/([^?]+)/.exec(one.path)?.[1];
      if (path)
        return answerFile(files, { path: decodeURIComponent(path), request, response }, one);
      return answerWorkspace(response, { files, settings, path: one.path });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    files,
    settings,
    tools,
    script: (...said: Said[]) => {
      script = said;
      asked.length = 0;
    },
    /** What the model was asked, in order. */
    questions: () => asked.filter(({ path }) => path.endsWith('/completions')),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type FakeSuite = Awaited<ReturnType<typeof startFakeSuite>>;

export interface JobOptions {
  readonly input?: Partial<AgentTaskInput>;
  readonly folder?: string;
  readonly hasWorkspace?: boolean;
  readonly signal?: AbortSignal;
  readonly timeLeftMs?: number;
}

/** A task as the program gives it to a template. */
export function openJob(suite: FakeSuite, type: string, options: JobOptions = {}): Job {
  const { input = {}, folder, hasWorkspace = true, timeLeftMs = 20_001 } = options;
  const signal = options.signal ?? new AbortController().signal;
  const callsOf = (service: string) =>
    new SuiteCalls({
      service,
      url: suite.url,
      token: () => Promise.resolve('token'),
      forgetToken: () => {},
      signal,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    });
  const door = new WorkspaceDoor({
    calls: callsOf('studio'),
    workspaceId: 'wsp_1',
    agentId: 'agt_1',
  });
  const testCommand = async () => (await door.settings()).testCommand;
  const workspace = { door, testCommand, ...(folder === undefined ? {} : { folder }) };
  return {
    type,
    input: { studioTaskId: 'tsk_1', ...input },
    ...(hasWorkspace ? { workspace } : {}),
    model: new Model(callsOf('gateway'), input.model),
    tools: new RegistryTools(callsOf('registry'), input.tools ?? []),
    timeLeftMs: () => timeLeftMs,
    signal,
    tell: () => {},
  };
}

async function read(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = request.headers['content-type'] === 'application/json';
  return {
    path: request.url ?? '',
    headers: request.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function say(response: ServerResponse, said: Said): void {
  if (typeof said === 'object' && 'isBroken' in said) {
    response.destroy();
    return;
  }
  if (typeof said === 'object' && 'status' in said) {
    json(response, said.status, { error: said.error });
    return;
  }
  const calls = typeof said === 'object' ? said.calls : [];
  const toolCalls = calls.map(([name, input], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
  const content = typeof said === 'string' ? said : null;
  const message = {
    role: 'assistant',
    content,
    ...(calls.length > 0 && { tool_calls: toolCalls }),
  };
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  json(response, 200, { model: 'scripted', usage, choices: [{ message, finish_reason: 'stop' }] });
}

function answerMcp(
  response: ServerResponse,
  { method, params }: ReadJson,
  tools: readonly { readonly name: string; readonly result: unknown }[],
): void {
  const listed = tools.map(({ name }) => ({ name, inputSchema: { type: 'object' } }));
  const tool = tools.find(({ name }) => name === params.name);
  const result = method === 'tools/list' ? { tools: listed } : tool?.result;
  json(response, 200, { jsonrpc: '2.0', id: 1, result });
}

function answerWorkspace(
  response: ServerResponse,
  {
    files,
    settings,
    path,
  }: {
    readonly files: ReadonlyMap<string, string>;
    readonly settings: object;
    readonly path: string;
  },
): void {
  if (!path.includes('/files')) return json(response, 200, { id: 'wsp_1', settings });
  const prefix = new URL(path, 'http://x').searchParams.get('prefix') ?? '';
  const listed = [...files]
    .filter(([name]) => name.startsWith(prefix))
    .toSorted(([a], [b]) => a.localeCompare(b));
  return json(response, 200, {
    files: listed.map(([name, text]) => ({ path: name, size: Buffer.byteLength(text) })),
  });
}

function answerFile(
  files: Map<string, string>,
  {
    path,
    request,
    response,
  }: {
    readonly path: string;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  },
  { body }: Asked,
): void {
  const text = files.get(path);
  if (request.method === 'GET') {
    if (text === undefined) return json(response, 404, refusal('file_not_found'));
    response.writeHead(200, { etag: `"${hashOf(text)}"` }).end(text);
    return undefined;
  }
  const { 'if-match': match, 'if-none-match': none } = request.headers;
  const isKnown = none === '*' ? text === undefined : match === `"${hashOf(text ?? '')}"`;
  if (!isKnown) return json(response, 412, refusal('precondition_failed'));
  files.set(path, String(body));
  return json(response, 200, { outcome: 'applied', file: { path, hash: hashOf(String(body)) } });
}

function refusal(code: string) {
  return { error: { code: code.toUpperCase(), message: code } };
}

/** As the studio names what a file holds. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
