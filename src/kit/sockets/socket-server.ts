import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Contract, SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { FaultReply } from '../http/fault-reply.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Log } from '../log.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { Tracer } from '../trace.ts';
import { SocketConnection } from './connection.ts';
import { Handshake } from './handshake.ts';
import { SocketGate, type Admission } from './socket-gate.ts';
import type { SocketHandler, SocketHandlers } from './socket-handlers.ts';
import { findSocketRoute, type SocketMatch } from './socket-paths.ts';
import { asksForWebSocket, ignoreUpgrade, type Upgrade } from './upgrade.ts';

export interface SocketLimits {
  /** Largest message of a client; 1 MiB unless told. Above it the socket closes with 1009. */
  readonly messageBytesMax: number;
  /** Sockets that one identity may have open on this service; 64 unless told. */
  readonly perIdentityMax: number;
  /** What may wait to be sent on one socket, but for the last message; 1 MiB unless told. */
  readonly queuedBytesMax: number;
  /** How often a peer must show that it lives; 30 s unless told. */
  readonly pingMs: number;
}

export interface SocketServerOptions {
  readonly contract: Contract;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly tracer: Tracer;
  readonly log: Log;
  readonly faults: FaultReply;
  readonly limits?: Partial<SocketLimits> | undefined;
}

/** Takes over a connection for good. */
export type UpgradeHandler = (upgrade: Upgrade) => void;

type AnyHandler = SocketHandler | SocketHandler['serve'];

const defaultLimits: SocketLimits = {
  messageBytesMax: 1024 * 1024,
  perIdentityMax: 64,
  queuedBytesMax: 1024 * 1024,
  pingMs: 30_000,
};
const recheckMs = 500;
const farewellMs = 2_000;

/**
 * The WebSocket edge of one service (RFC 6455), on its HTTP server. Who may not in is answered in
 * HTTP before the upgrade; whose token is revoked or expires is closed with 1008 within a second.
 */
export class SocketServer {
  readonly #server: Server;
  readonly #options: SocketServerOptions;
  readonly #limits: SocketLimits;
  readonly #gate: SocketGate;
  readonly #acceptor: WebSocketServer;
  readonly #handshakes = new WeakMap<IncomingMessage, Handshake>();
  readonly #connections = new Map<SocketConnection, Admission>();
  readonly #reserved = new Map<string, UpgradeHandler>();
  readonly #handlers = new Map<string, SocketHandler>();
  /** Starts the spans of what is not to be recorded. */
  readonly #silent = new Tracer(() => {});
  #routes: Readonly<Record<string, SocketRoute>> = {};
  #timers: NodeJS.Timeout[] = [];
  #isClosing = false;

  constructor(server: Server, options: SocketServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    const { messageBytesMax, perIdentityMax } = this.#limits;
    this.#gate = new SocketGate({ ...options, perIdentityMax });
    this.#acceptor = createAcceptor(messageBytesMax);
    this.#acceptor.on('wsClientError', ({ message }, _socket, request) => {
      this.#handshakes.get(request)?.refuse(new Fault('invalid', `no WebSocket: ${message}`));
    });
  }

  /** Serves every WebSocket path of the service's contract. */
  serve<C extends Contract>(contract: C, handlers: SocketHandlers<C>): void {
    this.#routes = contract.sockets ?? {};
    // Each is called with connections of the route of its name only.
    const byName = handlers as unknown as Readonly<Record<string, AnyHandler>>;
    for (const [name, handler] of Object.entries(byName)) {
      this.#handlers.set(name, typeof handler === 'function' ? { serve: handler } : handler);
    }
    this.#listen();
  }

  /**
   * Leaves a path and all below it to another protocol, which authenticates by itself. A library
   * that listens for upgrades by itself needs no handler.
   */
  reserve(path: string, handler: UpgradeHandler = () => {}): void {
    this.#reserved.set(path, handler);
    this.#listen();
  }

  /** Takes no more handshakes and closes all connections with 1001; drops who does not answer. */
  close(graceMs: number): void {
    this.#isClosing = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#each((connection) => connection.close(1001, 'the service is stopping'));
    const terminate = () => this.#each((connection) => connection.terminate());
    setTimeout(terminate, Math.min(graceMs, farewellMs)).unref();
  }

  #listen(): void {
    if (this.#timers.length > 0) return;
    const probe = () => this.#each((connection) => connection.probe());
    const recheck = () =>
      this.#each((connection, admission) => this.#recheck(connection, admission));
    this.#timers = [setInterval(probe, this.#limits.pingMs), setInterval(recheck, recheckMs)];
    for (const timer of this.#timers) timer.unref();
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#receive({ request, socket, head }),
    );
  }

  #receive(upgrade: Upgrade): void {
    const path = upgrade.request.url?.split('?')[0] ?? '/';
    const handler = this.#findReserved(path);
    if (handler) handler(upgrade);
    else if (asksForWebSocket(upgrade)) void this.#open(upgrade, path);
    else ignoreUpgrade(this.#server, upgrade);
  }

  #findReserved(path: string): UpgradeHandler | undefined {
    for (const [reserved, handler] of this.#reserved) {
      if (path === reserved || path.startsWith(`${reserved}/`)) return handler;
    }
    return undefined;
  }

  async #open(upgrade: Upgrade, path: string): Promise<void> {
    const match = findSocketRoute(this.#routes, path);
    const { faults, tracer } = this.#options;
    const handshake = new Handshake(upgrade, {
      faults,
      tracer: match ? tracer : this.#silent,
      route: match?.route,
    });
    this.#handshakes.set(upgrade.request, handshake);
    try {
      if (!match) throw new Fault('not_found', `there is no WebSocket at ${path}`);
      await this.#negotiate(handshake, match);
    } catch (error) {
      handshake.refuse(error);
    }
  }

  async #negotiate(handshake: Handshake, { name, route, params }: SocketMatch): Promise<void> {
    const admission = await this.#gate.admit(route, handshake.upgrade.request);
    const { identity } = admission;
    handshake.noteIdentity(identity);
    const { query, origin, requestId } = handshake;
    const request = { identity, params, query, origin, requestId };
    const handler = this.#handlers.get(name);
    if (!handler) throw new Error(`the WebSocket ${name} has no handler`);
    await handler.admit?.(request);
    if (this.#isClosing)
      throw new Fault('unavailable', 'the service is stopping', { retryAfter: 1 });
    this.#gate.requirePlace(identity);
    // From the check to the handler all is synchronous: no place is taken twice, no message missed.
    const { request: raw, socket, head } = handshake.upgrade;
    this.#acceptor.handleUpgrade(raw, socket, head, (webSocket) => {
      handshake.noteUpgraded();
      const connection = new SocketConnection(webSocket, request, {
        queuedBytesMax: this.#limits.queuedBytesMax,
        log: this.#options.log,
        wordFault: handshake.wordFault,
      });
      this.#keep(connection, admission, webSocket);
      serveSafely(handler, connection);
    });
  }

  #keep(connection: SocketConnection, admission: Admission, webSocket: WebSocket): void {
    this.#connections.set(connection, admission);
    this.#gate.occupyPlace(admission.identity);
    webSocket.once('close', () => {
      this.#connections.delete(connection);
      this.#gate.releasePlace(admission.identity);
    });
  }

  async #recheck(connection: SocketConnection, { credential }: Admission): Promise<void> {
    if (await this.#gate.isStillGood(credential)) return;
    connection.close(1008, 'the token is no longer valid');
  }

  #each(work: (connection: SocketConnection, admission: Admission) => unknown): void {
    for (const [connection, admission] of this.#connections) work(connection, admission);
  }
}

function createAcceptor(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, clientTracking: false, maxPayload });
}

function serveSafely(handler: SocketHandler, connection: SocketConnection): void {
  try {
    handler.serve(connection);
  } catch (error) {
    connection.report(error);
    connection.close(1011, 'internal error');
  }
}
