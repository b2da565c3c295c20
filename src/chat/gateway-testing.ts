import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReadJson } from '../kit/http/testing.ts';

/** What a scripted gateway was sent. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** What stood behind `Bearer`. */
  readonly credential: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: ReadJson;
  /** Aborted when the asker has gone before the answer was whole. */
  readonly signal: AbortSignal;
}

/** An answer as a test writes it, in the frames of the gateway's OpenAI face. */
export interface ScriptedAnswer {
  /** A piece of text; sent at once. */
  say(text: string): void;
  think(text: string): void;
  /** A whole call of a tool, its arguments in two pieces. */
  call(id: string, name: string, args: unknown): void;
  /** A chunk as some provider may write it. */
  delta(delta: object): void;
  /** The last chunk, the usage where it was asked for, and `[DONE]`. */
  finish(reason?: string, usage?: object): void;
  /** A refusal in the gateway's envelope, in place of an answer. */
  refuse(status: number, code: string, message?: string): void;
  /** What the gateway writes when its provider fails in mid-stream: an error and no `[DONE]`. */
  fail(code: string, message?: string): void;
  /** Resets the connection. */
  cut(): void;
}

export type Script = (asked: Asked, answer: ScriptedAnswer) => void | Promise<void>;

/** A gateway that a test scripts: a real server that speaks its contract for chats. */
export interface ScriptedGateway extends AsyncDisposable {
  readonly url: string;
  /** The chats that came. */
  readonly asked: Asked[];
  /** What it does with the next chats, one each; the last one stays. */
  script(...scripts: Script[]): void;
  /** Answers JSON at another of its paths: `GET /api/v1/providers`. */
  answer(route: string, body: unknown, status?: number): void;
  /** Refuses connections from now on; `url` stays taken for `rise`. */
  fall(): Promise<void>;
  rise(): Promise<void>;
}

/** Says these pieces, then stops; `pauseMs` between them. */
export function says(pieces: readonly string[], { pauseMs = 0 } = {}): Script {
  return async ({ signal }, answer) => {
    for (const piece of pieces) {
      if (signal.aborted) return;
      answer.say(piece);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    answer.finish();
  };
}

/** Says these pieces, and then what comes of them. */
export function saysThen(pieces: readonly string[], end: 'hang' | 'cut' | 'fail'): Script {
  return (_asked, answer) => {
    for (const piece of pieces) answer.say(piece);
    if (end === 'fail') answer.fail('provider_failed');
    // What was written has to leave before the connection is reset.
    if (end === 'cut') setTimeout(() => answer.cut(), 20);
  };
}

/** Asks for these calls of tools. */
export function calls(...tools: readonly (readonly [string, string, unknown])[]): Script {
  return (_asked, answer) => {
    for (const [id, name, args] of tools) answer.call(id, name, args);
    answer.finish('tool_calls');
  };
}

/** Starts it; without a script it answers `You said: ` and the last message's text, word by word. */
export async function startScriptedGateway(...scripts: Script[]): Promise<ScriptedGateway> {
  const asked: Asked[] = [];
  const answers = new Map<string, { readonly body: unknown; readonly status: number }>();
  let queue: Script[] = scripts.length > 0 ? scripts : [echo];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const one = await readAsked(request, response);
    const fixed = answers.get(`${one.method} ${one.path.split('?')[0]}`);
    if (fixed) return sendJson(response, fixed.status, fixed.body);
    if (!one.path.endsWith('/chat/completions')) return sendJson(response, 404, {});
    asked.push(one);
    const script = queue.length > 1 ? queue.shift() : queue[0];
    await script?.(one, new WrittenAnswer(one, response));
  };
  const server = createServer((request, response) => void take(request, response));
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    script: (...next) => void (queue = next),
    answer: (route, body, status = 200) => void answers.set(route, { body, status }),
    fall: close,
    rise: () => listen(port),
    [Symbol.asyncDispose]: close,
  };
}

const echo: Script = ({ body, signal }, answer) => {
  const content: unknown = body.messages.at(-1)?.content;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return says(['You said:', ...text.split(' ').map((word) => ` ${word}`)])(
    { body, signal } as Asked,
    answer,
  );
};

async function readAsked(request: IncomingMessage, response: ServerResponse): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const { method = '', url: path = '', headers } = request;
  return {
    method,
    path,
    headers,
    credential: (headers.authorization ?? '').replace('Bearer ', ''),
    body: text === '' ? undefined : JSON.parse(text),
    signal: gone.signal,
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A stream, or one completion at the end where none was asked for. */
class WrittenAnswer implements ScriptedAnswer {
  readonly #asked: Asked;
  readonly #response: ServerResponse;
  readonly #calls: { id: string; type: 'function'; function: object }[] = [];
  #text = '';
  #pieceCount = 0;

  constructor(asked: Asked, response: ServerResponse) {
    this.#asked = asked;
    this.#response = response;
  }

  say(text: string): void {
    this.#text += text;
    this.#pieceCount += 1;
    this.#chunk({ content: text });
  }

  think(text: string): void {
    this.#chunk({ reasoning_content: text });
  }

  call(id: string, name: string, args: unknown): void {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const index = this.#calls.length;
    this.#calls.push({ id, type: 'function', function: { name, arguments: text } });
    const [first, rest] = [text.slice(0, 3), text.slice(3)];
    const begun = { index, id, type: 'function', function: { name, arguments: first } };
    this.#chunk({ tool_calls: [begun] });
    if (rest !== '') this.#chunk({ tool_calls: [{ index, function: { arguments: rest } }] });
  }

  delta(delta: object): void {
    this.#chunk(delta);
  }

  finish(reason = 'stop', usage: object = this.#usage): void {
    const { stream, stream_options: options } = this.#asked.body;
    if (stream !== true) {
      const message = { role: 'assistant', content: this.#text, tool_calls: this.#calls };
      const choices = [{ index: 0, message, finish_reason: reason }];
      sendJson(this.#response, 200, { ...this.#head('chat.completion'), choices, usage });
      return;
    }
    this.#chunk({}, reason);
    if (options?.include_usage) this.#write({ choices: [], usage });
    this.#response.end('data: [DONE]\n\n');
  }

  get #usage() {
    return {
      prompt_tokens: 10,
      completion_tokens: this.#pieceCount,
      total_tokens: 10 + this.#pieceCount,
    };
  }

  refuse(status: number, code: string, message = 'refused by the script'): void {
    const type = status === 429 ? 'rate_limit_exceeded' : 'provider_error';
    const error = { type, message, param: null, code };
    sendJson(this.#response, status, { error });
  }

  fail(code: string, message = 'the provider failed'): void {
    this.#begin();
    const error = { type: 'provider_error', message, param: null, code };
    this.#response.end(`data: ${JSON.stringify({ error })}\n\n`);
  }

  cut(): void {
    this.#response.destroy();
  }

  #head(object: string) {
    const model: string = this.#asked.body.model ?? 'auto-route';
    return { id: 'chatcmpl-scripted', object, created: 1_700_000_000, model };
  }

  #chunk(delta: object, finish: string | null = null): void {
    this.#write({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  }

  #write(fields: object): void {
    if (this.#asked.body.stream !== true) return;
    this.#begin();
    const chunk = { ...this.#head('chat.completion.chunk'), ...fields };
    this.#response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  #begin(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }
}
