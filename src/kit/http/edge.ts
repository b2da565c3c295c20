import type { Contract, Route } from '../contract.ts';
import type { Envelope } from '../envelope.ts';
import type { Fault } from '../errors.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Identity } from '../identity/identity.ts';
import type { Log } from '../log.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { Tracer } from '../trace/trace.ts';
import { HttpCall, OpenCalls, type Call } from './call.ts';
import type { EdgeReply, EdgeRequest, CallContext } from './exchange.ts';
import { FaultReply } from './fault-reply.ts';
import { Gate } from './gate.ts';
import { requireSound } from './odd-requests.ts';
import { contextOf, endServerSpan, startServerSpan } from './server-span.ts';
import { streamBytesMax } from './streamed-body.ts';

export interface EdgeOptions {
  readonly contract: Contract;
  readonly envelope: Envelope;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly tracer: Tracer;
  readonly log: Log;
}

/** What every request of a service passes, whichever way it came in: span, gate, handler's call, refusal. */
export class Edge {
  readonly faults: FaultReply;
  /** The calls that are under way. */
  readonly openCalls = new OpenCalls();
  readonly #tracer: Tracer;
  readonly #gate: Gate;

  constructor(options: EdgeOptions) {
    this.#tracer = options.tracer;
    this.#gate = new Gate(options);
    this.faults = new FaultReply(options.envelope, options.log);
  }

  /** Before the body is read: span, identity, permission, rate limit. Throws the refusal. */
  admit(route: Route, reply: EdgeReply): Identity | undefined | Promise<Identity> {
    this.#open(route, reply);
    requireSound(reply.request);
    return this.#gate.admit(route, reply);
  }

  /** What the handler gets. */
  callOf(route: Route, reply: EdgeReply): Call {
    const context = this.contextOf(reply.request);
    const edge = { context, openCalls: this.openCalls, bodyBytesMax: streamBytesMax(route) };
    return new HttpCall(reply.request, reply, edge) as unknown as Call;
  }

  refuse<R extends EdgeReply>(reply: R, fault: Fault): R {
    return this.faults.send(reply, fault, this.contextOf(reply.request));
  }

  /** The context of a request, also of one that no route took. */
  contextOf(request: EdgeRequest): CallContext {
    request.context ??= contextOf(request, startServerSpan(this.#tracer, undefined, request));
    return request.context;
  }

  #open(route: Route, reply: EdgeReply): void {
    const span = startServerSpan(this.#tracer, route, reply.request);
    const context = contextOf(reply.request, span);
    reply.request.context = context;
    reply.header('x-request-id', context.requestId);
    if (!span.isRecording()) return;
    reply.header('x-trace-id', span.spanContext().traceId);
    reply.whenOver(() => endServerSpan(context, reply.raw));
  }
}
