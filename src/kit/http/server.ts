import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { WrittenBytes } from '../written-json.ts';
import { pathsOf, successStatus, type Contract, type Route } from '../contract.ts';
import type { Envelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Identity } from '../identity/identity.ts';
import type { Log } from '../log.ts';
import { describeContract } from '../openapi.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { SocketHandlers } from '../sockets/socket-handlers.ts';
import { SocketServer, type SocketLimits } from '../sockets/socket-server.ts';
import { formatLine, JsonLines } from '../json-lines.ts';
import { PushedAnswer, ResponseSink } from '../pushed-answer.ts';
import { EventStream, writeEvents } from '../sse.ts';
import { openSource, writeSource } from '../streamed-answer.ts';
import type { Tracer } from '../trace.ts';
import { bodyRules, createApp, listenFault, measurable, takingBytes } from './app.ts';
import { HttpCall, OpenCalls, type Call, type CallContext, type Handlers } from './call.ts';
import { serveDocs } from './docs-page.ts';
import { FaultReply, faultOf, type Refusal } from './fault-reply.ts';
import { Gate } from './gate.ts';
import { endServerSpan, contextOf, startServerSpan } from './server-span.ts';
import { noRouteFault } from './no-route.ts';
import { refuseOddRequests, requireSound } from './odd-requests.ts';
import { leavingBodies, streamBytesMax } from './streamed-body.ts';

export interface HttpOptions {
  readonly contract: Contract;
  readonly envelope: Envelope;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly tracer: Tracer;
  readonly log: Log;
  /** How long a client may take to send a request; 30 s when absent. */
  readonly requestTimeoutMs?: number;
  readonly socketLimits?: Partial<SocketLimits>;
}

const bodyBytesMax = 1024 * 1024;
/** Cheap to check, and keeps every field. */
const AnyObject = Type.Object({}, { additionalProperties: true });
const sweepMs = 50;

/** Writes the head of an answer that comes piece by piece; it goes out with the first piece. */
function beginPieces(reply: FastifyReply, mediaType: string): void {
  void reply.hijack();
  void reply.header('content-type', mediaType).header('cache-control', 'no-cache, no-transform');
  void reply.header('x-accel-buffering', 'no');
  // As a list: V8 is slow to add keys to an object that a spread made.
  reply.raw.writeHead(200, Object.entries(reply.getHeaders()).flat() as string[]);
}

/** The same, and sends it at once. */
function beginStream(reply: FastifyReply, mediaType: string): void {
  beginPieces(reply, mediaType);
  reply.raw.flushHeaders();
}

type AnyHandler = (call: Call) => unknown;

interface Served {
  readonly route: Route;
  readonly url: string;
  readonly handler: AnyHandler;
}

/**
 * The HTTP edge of one service: serves its contract's routes, and for free the validation, token
 * check, rate limit, span, error envelope, `GET /openapi.json` and `GET /docs`.
 */
export class HttpServer {
  /** The Fastify instance below, for what a contract cannot say. */
  readonly app: FastifyInstance;
  /** The WebSocket edge on the same port. */
  readonly sockets: SocketServer;
  readonly #options: HttpOptions;
  readonly #gate: Gate;
  readonly #faults: FaultReply;
  readonly #openCalls = new OpenCalls();

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#gate = new Gate(options);
    this.#faults = new FaultReply(options.envelope, options.log);
    this.app = createApp({
      requestTimeoutMs: options.requestTimeoutMs,
      streamsBodies: Object.values(options.contract.routes).some((route) => route.streamsBody),
      refuse: (error, request, reply) =>
        this.#faults.send(reply, faultOf(error, request), this.#contextOf(request)),
      refuseConnection: (error, socket) => this.#faults.refuseConnection(error, socket),
    });
    refuseOddRequests(this.app.server, this.#faults);
    this.sockets = new SocketServer(this.app.server, {
      ...options,
      faults: this.#faults,
      limits: options.socketLimits,
    });
    this.app.decorateRequest('context');
    this.app.decorateRequest('text');
    this.app.setNotFoundHandler((request, reply) =>
      this.#faults.send(reply, noRouteFault(options.contract, request), this.#contextOf(request)),
    );
    this.#serveOpenApi();
  }

  /** Serves every route of the service's contract. */
  serve<C extends Contract>(contract: C, handlers: Handlers<C>): void {
    for (const [name, route] of Object.entries(contract.routes)) {
      const handler = handlers[name] as unknown as AnyHandler;
      for (const url of pathsOf(route)) {
        const add = (app: FastifyInstance) => this.#addRoute(app, { route, url, handler });
        if (route.streamsBody) leavingBodies(this.app, add);
        else if (route.takesBytes) takingBytes(this.app, add);
        else add(this.app);
      }
    }
  }

  /** Serves every WebSocket path of the service's contract. */
  serveSockets<C extends Contract>(contract: C, handlers: SocketHandlers<C>): void {
    this.sockets.serve(contract, handlers);
  }

  /** Tells of every request that is refused. */
  watchRefusals(watch: (refusal: Refusal) => void): void {
    this.#faults.watch(watch);
  }

  /** Listens; throws one clear sentence when the port is taken or the address is not ours. */
  async listen(host: string, port: number): Promise<void> {
    try {
      await this.app.listen({ host, port });
    } catch (cause) {
      throw listenFault(cause, { service: this.#options.contract.name, host, port });
    }
  }

  /** Stops accepting, waits for running requests up to the grace, then aborts them. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#openCalls.cancel(
        new Fault('unavailable', 'the service is stopping', { retryAfter: 5 }),
      );
      setTimeout(() => this.app.server.closeAllConnections(), 500).unref();
    }, graceMs);
    // A connection whose answer ends from now on would stay open, idle, for its keep-alive time.
    const sweeper = setInterval(() => this.app.server.closeIdleConnections(), sweepMs);
    this.sockets.close(graceMs);
    await this.app.close();
    clearTimeout(timer);
    clearInterval(sweeper);
  }

  #addRoute(app: FastifyInstance, { route, url, handler }: Served): void {
    const { params, query, body, response } = route.schema;
    const status = successStatus(route);
    app.route({
      method: route.method,
      url,
      bodyLimit: route.bodyBytesMax ?? bodyBytesMax,
      config: bodyRules(route),
      schema: {
        ...(params ? { params } : {}),
        ...(query ? { querystring: query } : {}),
        ...(body ? { body: route.bodyCheck === 'handler' ? AnyObject : body } : {}),
        response,
      },
      onRequest: (_request, reply, done) => this.#begin(route, reply, done),
      handler: (_request, reply) => this.#handle(reply.code(status), { handler, route }),
    });
  }

  /** Before the body is read: span, identity, permission, rate limit. */
  #begin(route: Route, reply: FastifyReply, done: (error?: Error) => void): void {
    this.#open(route, reply);
    try {
      requireSound(reply.request);
      const admitted = this.#gate.admit(route, reply);
      if (admitted instanceof Promise) {
        void this.#beginWhenAdmitted(admitted, done);
        return;
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  async #beginWhenAdmitted(
    admitted: Promise<Identity>,
    done: (error?: Error) => void,
  ): Promise<void> {
    try {
      await admitted;
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  #open(route: Route, reply: FastifyReply): void {
    const span = startServerSpan(this.#options.tracer, route, reply.request);
    const context = contextOf(reply.request, span);
    reply.request.context = context;
    if (span.isRecording()) reply.raw.on('close', () => endServerSpan(reply));
    void reply.header('x-request-id', context.requestId);
  }

  /** A promise only where there is something to wait for: most of a short request is waiting. */
  #handle(reply: FastifyReply, { handler, route }: Pick<Served, 'handler' | 'route'>): unknown {
    const context = this.#contextOf(reply.request);
    const edge = { context, openCalls: this.#openCalls, bodyBytesMax: streamBytesMax(route) };
    const call = new HttpCall(reply.request, reply, edge) as unknown as Call;
    const answer = handler(call);
    if (answer instanceof Promise) return answer.then((given) => this.#send(reply, given, call));
    // Fastify takes a plain undefined for "not yet".
    return this.#send(reply, answer, call) ?? null;
  }

  /** What Fastify is to send. */
  #send(reply: FastifyReply, answer: unknown, call: Call): unknown {
    if (answer instanceof WrittenBytes) {
      void reply.type(answer.mediaType);
      return answer.bytes;
    }
    if (answer instanceof EventStream) return this.#sendEvents(reply, answer, call);
    if (answer instanceof JsonLines) return this.#sendLines(reply, answer, call);
    if (answer instanceof PushedAnswer) return this.#sendPushed(reply, answer);
    return measurable(reply, answer);
  }

  async #sendEvents(reply: FastifyReply, stream: EventStream, call: Call): Promise<FastifyReply> {
    const opened = await openSource(stream.events);
    beginStream(reply, 'text/event-stream; charset=utf-8');
    await writeEvents(reply.raw, opened, {
      signal: call.signal,
      eventOf: (error) => ({ data: JSON.stringify(this.#failureOf(error, reply)) }),
    });
    return reply;
  }

  async #sendLines(reply: FastifyReply, lines: JsonLines, call: Call): Promise<FastifyReply> {
    const opened = await openSource(lines.values);
    beginStream(reply, 'application/x-ndjson');
    await writeSource(reply.raw, opened, {
      signal: call.signal,
      format: formatLine,
      formatFailure: (error) => formatLine(this.#failureOf(error, reply)),
    });
    return reply;
  }

  /** What fails before the head is sent is an ordinary refusal; after it, the handler has said so. */
  async #sendPushed(reply: FastifyReply, answer: PushedAnswer): Promise<FastifyReply> {
    const sink = new ResponseSink(reply.raw, () => beginPieces(reply, answer.mediaType));
    try {
      await answer.push(sink);
    } catch (error) {
      if (!sink.isBegun) throw error;
      this.#faults.record(Fault.from(error), this.#contextOf(reply.request));
    } finally {
      sink.end();
    }
    return reply;
  }

  /** The refusal of a stream whose head has been sent, recorded. */
  #failureOf(error: unknown, reply: FastifyReply): unknown {
    const context = this.#contextOf(reply.request);
    const fault = Fault.from(error);
    this.#faults.record(fault, context);
    return this.#faults.body(fault, context);
  }

  /** The context of a request, also of one that no route took. */
  #contextOf(request: FastifyRequest): CallContext {
    if (!request.context) {
      const span = startServerSpan(this.#options.tracer, undefined, request);
      request.context = contextOf(request, span);
    }
    return request.context;
  }

  #serveOpenApi(): void {
    const document = describeContract(this.#options.contract);
    this.app.get('/openapi.json', { schema: {} }, () => document);
    serveDocs(this.app, this.#options.contract);
  }
}
