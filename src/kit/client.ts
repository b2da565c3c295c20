import { request as send, type Dispatcher } from 'undici';
import type { Contract, EventOf, RequestOf, Route, AnswerOf } from './contract.ts';
import { Fault } from './errors.ts';
import { readEvents } from './answers/sse.ts';
import { failSpan, SpanKind, type Span, type Tracer } from './trace/trace.ts';
import { formatTraceparent } from './trace/trace-context.ts';

export interface ClientOptions {
  /** The service's address, without a slash at the end. */
  readonly baseUrl: string;
  /** The caller's own token; absent calls anonymously. */
  readonly token?: () => Promise<string>;
  /** Called when the service refused the token, before the one repetition. */
  readonly forgetToken?: () => void;
  readonly tracer: Tracer;
  readonly dispatcher?: Dispatcher;
}

export interface CallOptions {
  /** The span that causes the call. */
  readonly parent?: Span;
  /** `none` records no span here nor there, for what is asked over and over. */
  readonly trace?: 'none';
  readonly signal?: AbortSignal;
  /** For the whole answer, or for the first byte of a stream; 30 s when absent. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

type Present<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };

/** What a call of a route needs: the parts that the route declares. */
export type CallInput<R extends Route> = Present<RequestOf<R>>;

/** A function for every route of a contract, and `streams` for those that answer with events. */
export type Client<C extends Contract> = {
  readonly [K in keyof C['routes']]: (
    input: CallInput<C['routes'][K]>,
    options?: CallOptions,
  ) => Promise<AnswerOf<C['routes'][K]>>;
} & { readonly streams: Streams<C> };

type Streams<C extends Contract> = {
  readonly [K in keyof C['routes'] as EventOf<C['routes'][K]> extends never ? never : K]: (
    input: CallInput<C['routes'][K]>,
    options?: CallOptions,
  ) => AsyncIterable<EventOf<C['routes'][K]>>;
};

interface AnyInput {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

const timeoutMsDefault = 30_000;
const streamIdleMs = 120_000;
const answerBytesMax = 32 * 1024 * 1024;

/**
 * A typed client of another service: HTTP with the caller's identity, `traceparent`, a deadline and a
 * size bound. Refusals come back as the Fault that the other service threw.
 */
export function createClient<C extends Contract>(contract: C, options: ClientOptions): Client<C> {
  const caller = new Caller(contract.name, options);
  const entries = Object.entries(contract.routes);
  const calls = entries.map(([name, route]) => [
    name,
    (input: AnyInput, call: CallOptions = {}) => caller.call(route, input, call),
  ]);
  const streams = entries.map(([name, route]) => [
    name,
    (input: AnyInput, call: CallOptions = {}) => caller.stream(route, input, call),
  ]);
  return { ...Object.fromEntries(calls), streams: Object.fromEntries(streams) } as Client<C>;
}

interface SendOptions extends CallOptions {
  readonly span: Span;
  readonly isStream: boolean;
}

class Caller {
  readonly #service: string;
  readonly #options: ClientOptions;

  constructor(service: string, options: ClientOptions) {
    this.#service = service;
    this.#options = options;
  }

  async call(route: Route, input: AnyInput, options: CallOptions): Promise<unknown> {
    const span = this.#startSpan(route, options);
    try {
      const answer = await this.#send(route, input, { ...options, span, isStream: false });
      return await readJson(answer.body);
    } catch (error) {
      throw this.#fail(span, error);
    } finally {
      span.end();
    }
  }

  async *stream(route: Route, input: AnyInput, options: CallOptions): AsyncGenerator {
    const span = this.#startSpan(route, options);
    try {
      const answer = await this.#send(route, input, { ...options, span, isStream: true });
      for await (const { data } of readEvents(answer.body)) {
        if (data === '[DONE]') return;
        yield parseEvent(data);
      }
    } catch (error) {
      throw this.#fail(span, error);
    } finally {
      span.end();
    }
  }

  #startSpan(route: Route, { parent, trace }: CallOptions): Span {
    return this.#options.tracer.start(`${route.method} ${route.url}`, {
      kind: SpanKind.CLIENT,
      parent: parent?.spanContext(),
      isSampled: trace !== 'none',
      attributes: { 'http.request.method': route.method, 'peer.service': this.#service },
    });
  }

  /** Sends the request, once more with a new token when the service refused the one it had. */
  async #send(route: Route, input: AnyInput, options: SendOptions) {
    const first = await this.#sendOnce(route, input, options);
    const { forgetToken } = this.#options;
    if (first.statusCode !== 401 || !forgetToken) return acceptOrThrow(route, first);
    await first.body.dump();
    forgetToken();
    const second = await this.#sendOnce(route, input, options);
    if (second.statusCode !== 401) return acceptOrThrow(route, second);
    await second.body.dump();
    // The caller of this service is not the one who was refused.
    throw new Fault('unavailable', `${this.#service} does not know this service`, {
      retryAfter: 1,
    });
  }

  async #sendOnce(route: Route, input: AnyInput, options: SendOptions) {
    const { baseUrl, dispatcher } = this.#options;
    const timeoutMs = options.timeoutMs ?? timeoutMsDefault;
    return send(baseUrl + pathOf(route, input), {
      method: route.method,
      headers: await this.#headersOf(input, options),
      body: input.body === undefined ? null : JSON.stringify(input.body),
      signal: signalOf(options, timeoutMs),
      headersTimeout: timeoutMs,
      // Held back, undici 7 ends this process when the server closes (nodejs/undici#5360).
      highWaterMark: answerBytesMax,
      bodyTimeout: options.isStream ? streamIdleMs : timeoutMs,
      ...(dispatcher ? { dispatcher } : {}),
    });
  }

  async #headersOf(input: AnyInput, { headers, span, isStream }: SendOptions) {
    const token = await this.#options.token?.();
    return {
      ...headers,
      accept: isStream ? 'text/event-stream' : 'application/json',
      traceparent: formatTraceparent(span.spanContext()),
      ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
  }

  #fail(span: Span, error: unknown): Fault {
    const fault = faultOf(error, this.#service);
    failSpan(span, fault);
    return fault;
  }
}

function pathOf(route: Route, { params, query }: AnyInput): string {
  const path = route.url
    .replaceAll(/:(\w+)/g, (_, name: string) => segmentOf(params?.[name]))
    .replace(/\*$/, () =>
      String(params?.['*'] ?? '')
        .split('/')
        .map(segmentOf)
        .join('/'),
    );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** A parameter as one segment of a path; what would be another path (RFC 3986, section 5.2.4) is refused. */
function segmentOf(parameter: string | number | undefined): string {
  const text = String(parameter ?? '');
  if (text === '' || text === '.' || text === '..') {
    throw new Fault('invalid', `"${text}" cannot be a part of an address`);
  }
  return encodeURIComponent(text);
}

function signalOf({ signal, isStream }: SendOptions, timeoutMs: number): AbortSignal | undefined {
  if (isStream) return signal;
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/** A redirection is an answer where the route says that it is; it is not followed. */
async function acceptOrThrow(
  { schema: { response } }: Route,
  answer: Dispatcher.ResponseData,
): Promise<Dispatcher.ResponseData> {
  const { statusCode } = answer;
  if (statusCode < 300 || (statusCode < 400 && statusCode in response)) return answer;
  const body: unknown = await readJson(answer.body).catch(() => undefined);
  throw refusalOf(answer, body);
}

/** The Fault that an error answer stands for, whichever service's envelope it came in. */
function refusalOf({ statusCode, headers }: Dispatcher.ResponseData, body: unknown): Fault {
  const { error, code } = (body ?? {}) as { error?: string | RefusalBody | null; code?: string };
  const refusal: RefusalBody = typeof error === 'string' ? { message: error, code } : (error ?? {});
  const retryAfter = Number(headers['retry-after']);
  return new Fault(Fault.codeOf(statusCode), refusal.message ?? `HTTP status ${statusCode}`, {
    detail: { ...refusal.details, ...(refusal.param ? { param: refusal.param } : {}) },
    ...reasonIn(refusal),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  });
}

/** The reason that a code names; the numbers of JSON-RPC name none. */
function reasonIn({ code }: RefusalBody): { readonly reason?: string } {
  return typeof code === 'string' && code !== '' ? { reason: code.toLowerCase() } : {};
}

interface RefusalBody {
  readonly param?: string | null;
  readonly message?: string | undefined;
  readonly code?: string | number | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

async function readJson(body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Fault('upstream', 'the answer is too large');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}

/** The data of an event; one that carries an error is thrown as `upstream`, with its reason. */
function parseEvent(data: string): unknown {
  const event = JSON.parse(data) as { error?: RefusalBody } | null;
  if (!event?.error) return event;
  const { message = 'the stream failed' } = event.error;
  throw new Fault('upstream', message, reasonIn(event.error));
}

const unreachable = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET', 'ENOTFOUND', 'EPIPE']);
const tooSlow = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function faultOf(error: unknown, service: string): Fault {
  if (error instanceof Fault) return error;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && unreachable.has(code)) {
    return new Fault('unavailable', `${service} cannot be reached`, {
      cause: error,
      retryAfter: 1,
    });
  }
  if (typeof code === 'string' && tooSlow.has(code)) {
    return new Fault('deadline', `${service} did not answer in time`, { cause: error });
  }
  return Fault.from(error);
}
