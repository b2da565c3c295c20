import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Cancellation } from '../cancellation.ts';
import { Fault } from '../errors.ts';
import type { Identity } from '../identity/identity.ts';
import type { Span } from '../trace/trace.ts';
import { readCredential } from './credential.ts';
import type { EdgeReply, EdgeRequest, CallContext } from './exchange.ts';
import { readBody } from './streamed-body.ts';
import type { AnswerOf, Contract, RequestOf, Route } from '../contract.ts';
import type { JsonLines } from '../answers/json-lines.ts';
import type { PushedAnswer } from '../answers/pushed-answer.ts';
import type { EventStream } from '../answers/sse.ts';
import type { WrittenBytes } from '../answers/written-json.ts';

declare module 'fastify' {
  interface FastifyRequest {
    context: CallContext | undefined;
    /** The body as it came, on routes that keep it. */
    text: string | undefined;
  }
  interface FastifyReply {
    /** Has itself told when the answer is on its way, or can come no more. */
    whenOver(listener: () => void): void;
  }
}

/** Where a request came from, as audits record it. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string;
}

/** A validated request and what the edge knows of it. */
export interface Call<R extends Route = Route> extends RequestOf<R> {
  /** Present on every route that needs a token. */
  readonly identity: R extends { auth: 'none' }
    ? undefined
    : R extends { auth: 'loopback' }
      ? Identity | undefined
      : Identity;
  readonly headers: IncomingHttpHeaders;
  /** What the identity rests on, for calls on the caller's behalf. Never to be stored or logged. */
  readonly credential: R extends { auth: 'none' | 'loopback' } ? undefined : string;
  /** The body as it came; empty on routes that do not keep it. */
  readonly text: string;
  /** The body as it came, on routes that take bytes; empty elsewhere. */
  readonly bytes: Buffer;
  /** The body piece by piece, once, on routes that stream it. */
  readonly stream: Readable;
  readonly origin: Origin;
  readonly requestId: string;
  /** The request's server span: the parent of whatever it causes. */
  readonly span: Span;
  /** Aborted when the caller has gone, or the server stops and cannot wait any longer. */
  readonly signal: AbortSignal;
  /** The same, for handlers that count microseconds. */
  readonly cancellation: Cancellation;
  setHeader(name: string, value: string): void;
  setStatus(status: number): void;
}

/** A web `Response` brings its own status, headers and body; the body is read as it is sent. */
export type Answer<R extends Route> =
  | AnswerOf<R>
  | EventStream
  | JsonLines
  | PushedAnswer
  | WrittenBytes
  | Response;

/** A handler of any route, when it is called. */
export type AnyHandler = (call: Call) => unknown;

/** Does what a route promises; throws a Fault otherwise. */
export type Handler<R extends Route> = (call: Call<R>) => Promise<Answer<R>> | Answer<R>;

/** A handler for every route of a contract. */
export type Handlers<C extends Contract> = {
  readonly [K in keyof C['routes']]: Handler<C['routes'][K]>;
};

/** The Call of a request; the abort signal costs nothing until it is asked for. */
export class HttpCall {
  readonly #request: EdgeRequest;
  readonly #reply: EdgeReply;
  readonly #context: CallContext;
  readonly #edge: CallEdge;
  #cancellation: Cancellation | undefined;

  constructor(request: EdgeRequest, reply: EdgeReply, edge: CallEdge) {
    this.#request = request;
    this.#reply = reply;
    this.#context = edge.context;
    this.#edge = edge;
  }

  get params() {
    return this.#request.params;
  }

  get query() {
    return this.#request.query;
  }

  get body() {
    return this.#request.body;
  }

  get text(): string {
    return this.#request.text ?? '';
  }

  get bytes(): Buffer {
    const { body } = this.#request;
    return Buffer.isBuffer(body) ? body : noBytes;
  }

  get stream(): Readable {
    return readBody(this.#request.raw, this.#edge.bodyBytesMax);
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get identity(): Identity | undefined {
    return this.#context.identity;
  }

  /** The gate has found the identity by it, in the same order. */
  get credential(): string | undefined {
    if (!this.#context.identity) return undefined;
    return readCredential(this.#request.raw, {
      acceptsSessionCookie: true,
      acceptsQueryToken: false,
    });
  }

  get requestId(): string {
    return this.#context.requestId;
  }

  get span(): Span {
    return this.#context.span;
  }

  get origin(): Origin {
    return originOf(this.#request);
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get cancellation(): Cancellation {
    this.#cancellation ??= this.#edge.openCalls.open(this.#reply);
    return this.#cancellation;
  }

  setHeader(name: string, value: string): void {
    this.#reply.header(name, value);
  }

  setStatus(status: number): void {
    this.#reply.code(status);
  }
}

/** Where a request came from. */
export function originOf({ ip, headers }: Pick<EdgeRequest, 'ip' | 'headers'>): Origin {
  return { ip, userAgent: headers['user-agent'] ?? '' };
}

const noBytes = Buffer.alloc(0);

interface CallEdge {
  readonly context: CallContext;
  /** Ends the calls that are open when the server can wait no longer. */
  readonly openCalls: OpenCalls;
  /** Of a body that is streamed. */
  readonly bodyBytesMax: number;
}

/** The calls whose handlers may have to be ended, by their callers' leaving or the server's. */
export class OpenCalls {
  readonly #open = new Set<Cancellation>();
  #reason: Fault | undefined;

  /** Cancelled when the caller has gone, or with the reason of `cancel`. */
  open({ raw }: EdgeReply): Cancellation {
    const cancellation = new Cancellation();
    if (this.#reason) cancellation.cancel(this.#reason);
    if (raw.destroyed) cancellation.cancel(callerGone());
    this.#open.add(cancellation);
    raw.on('close', () => {
      this.#open.delete(cancellation);
      if (!raw.writableFinished) cancellation.cancel(callerGone());
    });
    return cancellation;
  }

  /** Ends all that are open, and all that come. */
  cancel(reason: Fault): void {
    this.#reason = reason;
    for (const cancellation of this.#open) cancellation.cancel(reason);
  }
}

function callerGone(): Fault {
  return new Fault('cancelled', 'the caller gave up');
}
