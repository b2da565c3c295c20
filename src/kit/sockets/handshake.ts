import type { SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { Origin } from '../http/call.ts';
import type { CallContext } from '../http/exchange.ts';
import type { FaultReply } from '../http/fault-reply.ts';
import { contextOf, noteIdentity, startServerSpan } from '../http/server-span.ts';
import type { Identity } from '../identity/identity.ts';
import type { Tracer } from '../trace/trace.ts';
import type { Upgrade } from './upgrade.ts';

export interface HandshakeOptions {
  readonly faults: FaultReply;
  readonly tracer: Tracer;
  /** Absent when no route took the path. */
  readonly route: SocketRoute | undefined;
}

/** An opening handshake under way (RFC 6455, section 4.2): its span lasts until it is answered. */
export class Handshake {
  readonly upgrade: Upgrade;
  readonly #faults: FaultReply;
  readonly #context: CallContext;

  constructor(upgrade: Upgrade, { faults, tracer, route }: HandshakeOptions) {
    this.upgrade = upgrade;
    this.#faults = faults;
    const { request, socket } = upgrade;
    // Until the upgrade nobody else listens, and an unheard error would end the process.
    socket.on('error', () => socket.destroy());
    const { headers, url = '/' } = request;
    const span = startServerSpan(tracer, route && { method: 'GET', url: route.url }, request);
    this.#context = contextOf({ headers, url }, span);
  }

  get requestId(): string {
    return this.#context.requestId;
  }

  /** What the service says of a fault, also long after the upgrade: keeps nothing of the handshake alive. */
  get wordFault(): (fault: Fault) => unknown {
    return wordingOf(this.#faults, this.#context);
  }

  get origin(): Origin {
    const { request } = this.upgrade;
    return {
      ip: request.socket.remoteAddress ?? '',
      userAgent: request.headers['user-agent'] ?? '',
    };
  }

  /** The query, without the token that it may hold. */
  get query(): URLSearchParams {
    const query = new URLSearchParams(this.upgrade.request.url?.split('?')[1]);
    query.delete('access_token');
    return query;
  }

  noteIdentity(identity: Identity): void {
    noteIdentity(this.#context, identity);
  }

  /** Answers in HTTP, in the service's own words, and closes. */
  refuse(error: unknown): void {
    const { socket } = this.upgrade;
    const fault = Fault.from(error);
    this.#faults.record(fault, this.#context);
    this.#end(fault.status);
    socket.once('finish', () => socket.destroy());
    this.#faults.refuseUpgrade(fault, socket, this.#context);
  }

  /** To be called when the upgrade is done. */
  noteUpgraded(): void {
    this.#end(101);
  }

  #end(status: number): void {
    this.#context.span.setAttribute('http.response.status_code', status);
    this.#context.span.end();
  }
}

function wordingOf(faults: FaultReply, { requestId, path }: CallContext) {
  return (fault: Fault): unknown => faults.body(fault, { requestId, path });
}
