import type { FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Envelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';
import { failSpan, type Span } from '../trace/trace.ts';
import { jsonType } from '../answers/written-json.ts';
import type { Identity } from '../identity/identity.ts';
import { originOf, type Origin } from './call.ts';
import type { EdgeReply, CallContext } from './exchange.ts';

/** Turns whatever was thrown into a Fault, Fastify's own errors included; too large a body is told the bound. */
export function faultOf(error: unknown, { routeOptions }: FastifyRequest): Fault {
  if (error instanceof Fault) return error;
  const { statusCode, code, message } = (error ?? {}) as {
    statusCode?: number;
    code?: string;
    message?: string;
  };
  if (code === 'ECONNRESET') return new Fault('cancelled', 'the caller gave up', { cause: error });
  if (!code?.startsWith('FST_') || !statusCode || statusCode >= 500) return Fault.from(error);
  if (statusCode === 413) {
    const text = `the body is too large: at most ${routeOptions.bodyLimit} bytes are taken`;
    return new Fault('too_large', text, { cause: error });
  }
  if (statusCode === 415) return unsupportedMediaType('send the body as application/json', error);
  const options = { cause: error, status: statusCode, reason: 'invalid_request' };
  return new Fault('invalid', message ?? 'bad request', options);
}

/** The refusal of a body in a form that is not read here. */
export function unsupportedMediaType(message: string, cause?: unknown): Fault {
  return new Fault('invalid', message, { status: 415, reason: 'unsupported_media_type', cause });
}

/** What a refusal needs of its request. */
interface Refused extends Pick<CallContext, 'requestId' | 'path'> {
  readonly headers?: IncomingHttpHeaders;
}

/** A request that was refused, and why. */
export interface Refusal {
  readonly fault: Fault;
  /** Its method and the address of its route, with the names of parameters. */
  readonly route: string;
  readonly origin: Origin;
  /** Whose request it was, where a token said so. */
  readonly identity: Identity | undefined;
}

/** Words and sends the refusal of a request; what others than its sender have to mend is logged. */
export class FaultReply {
  readonly #envelope: Envelope;
  readonly #log: Log;
  #watch: ((refusal: Refusal) => void) | undefined;

  constructor(envelope: Envelope, log: Log) {
    this.#envelope = envelope;
    this.#log = log;
  }

  /** Tells of every request that is refused from now on. */
  watch(watch: (refusal: Refusal) => void): void {
    this.#watch = watch;
  }

  send<R extends EdgeReply>(reply: R, fault: Fault, context: CallContext): R {
    this.record(fault, context);
    const { request } = reply;
    const route = `${request.method} ${request.routeOptions.url ?? ''}`;
    this.#watch?.({ fault, route, origin: originOf(request), identity: context.identity });
    reply.header('x-request-id', context.requestId);
    for (const [name, value] of Object.entries(headersOf(fault))) reply.header(name, value);
    if (fault.code === 'too_large') letSenderFinish(reply);
    reply.code(this.#statusOf(fault));
    reply.header('content-type', jsonType);
    reply.send(JSON.stringify(this.body(fault, { ...context, headers: request.headers })));
    return reply;
  }

  /** The refusal in the service's own words. */
  body(fault: Fault, { requestId, path, headers }: Refused): unknown {
    const timestamp = new Date().toISOString();
    return this.#envelope.wrap(fault, { requestId, path, headers, timestamp });
  }

  /** Notes the fault on the span, and in the log where it is ours, or the operator's to mend. */
  record(fault: Fault, { requestId, span }: Pick<CallContext, 'requestId' | 'span'>): void {
    if (fault.code === 'internal' || fault.reason === 'disk_full') {
      const what = fault.code === 'internal' ? 'internal error' : fault.message;
      this.#log.error({ err: fault.cause ?? fault, requestId }, what);
    }
    noteFault(span, fault);
  }

  /** Answers a connection whose request never became one: broken syntax, huge headers, a slow sender. */
  refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
    if (socket.destroyed || !socket.writable) return;
    const fault = connectionFault(error);
    socket.end(this.#rawAnswer(fault, { requestId: 'none', path: '' }));
  }

  /** Refuses an upgrade with an ordinary HTTP answer. */
  refuseUpgrade(
    fault: Fault,
    socket: Duplex,
    request: Pick<CallContext, 'requestId' | 'path'>,
  ): void {
    socket.end(this.#rawAnswer(fault, request));
  }

  #statusOf(fault: Fault): number {
    return this.#envelope.statusOf?.(fault) ?? fault.status;
  }

  #rawAnswer(fault: Fault, request: Pick<CallContext, 'requestId' | 'path'>): string {
    const status = this.#statusOf(fault);
    return rawAnswer(status, headersOf(fault), JSON.stringify(this.body(fault, request)));
  }
}

const discardedBytesMax = 64 * 1024 * 1024;

/**
 * Lets the rest of a refused body in, to be thrown away: closing at once would reset the connection,
 * and a sender that still writes would never read why. Beyond 64 MiB it has to live with that.
 */
function letSenderFinish(reply: EdgeReply): void {
  const bytes = Number(reply.request.headers['content-length'] ?? 0);
  if (bytes > discardedBytesMax) return;
  reply.removeHeader('connection');
  reply.request.raw.resume();
}

function connectionFault({ code }: NodeJS.ErrnoException): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Fault('invalid', 'the headers are too large', {
      status: 431,
      reason: 'headers_too_large',
    });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Fault('invalid', 'the request came too slowly', {
      status: 408,
      reason: 'request_timeout',
    });
  }
  return new Fault('invalid', 'this is not an HTTP request', { reason: 'invalid_request' });
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

function rawAnswer(status: number, headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `HTTP/1.1 ${status} ${phrases[status] ?? 'Error'}\r\n` +
    `content-type: ${jsonType}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${lines.join('')}\r\n${body}`
  );
}

/** The headers that a refusal carries (RFC 6750, section 3; RFC 9110, 7.8 and 10.2.3); no cache keeps one. */
function headersOf(fault: Fault): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (fault.status === 401) headers['www-authenticate'] = challengeOf(fault);
  if (fault.status === 426) Object.assign(headers, { upgrade: 'websocket', connection: 'upgrade' });
  if (fault.retryAfter !== undefined) Object.assign(headers, waitHeaders(fault.retryAfter));
  if (typeof fault.detail['allow'] === 'string') headers['allow'] = fault.detail['allow'];
  return headers;
}

const sleepSecondsMax = 60;

/**
 * The clients of OpenAI and Anthropic sleep as long as they are told, for hours too, unless
 * `x-should-retry` says no: a longer wait is for their callers to decide.
 */
function waitHeaders(seconds: number): Record<string, string> {
  const wait = { 'retry-after': String(seconds) };
  return seconds > sleepSecondsMax ? { ...wait, 'x-should-retry': 'false' } : wait;
}

/** Who showed no token is told of no error in one (RFC 6750, section 3.1). */
function challengeOf({ reason, detail }: Fault): string {
  const isShown = reason === 'invalid_token' && detail['reason'] !== 'token_missing';
  return isShown ? 'Bearer error="invalid_token"' : 'Bearer';
}

/** Notes a fault on the span of what was asked for; only what is not the caller's makes it fail. */
export function noteFault(span: Span, fault: Fault): void {
  if (fault.status >= 500)
    failSpan(span, fault.code === 'internal' ? (fault.cause ?? fault) : fault);
  else span.setAttribute('error.type', fault.reason ?? fault.code);
}
