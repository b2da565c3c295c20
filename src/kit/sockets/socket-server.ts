import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Contract, SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { FaultReply } from '../http/fault-reply.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Log } from '../log.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { Tracer } from '../trace/trace.ts';
import { awaitAuthFrame } from './auth-frame.ts';
import { SocketConnection, type OpeningRequest } from './connection.ts';
import { Guests } from './guests.ts';
import { Handshake } from './handshake.ts';
import { addressOf, SocketGate, type Admission } from './socket-gate.ts';
import type { SocketHandler, SocketHandlers } from './socket-handlers.ts';
import { findSocketRoute, type SocketMatch } from './socket-paths.ts';
import { boundStranger } from './stranger-bytes.ts';
import { asksForWebSocket, ignoreUpgrade, type Upgrade } from './upgrade.ts';

export interface SocketLimits {
  /** Largest message of a client where its route does not say; 1 MiB unless told. */
  readonly messageBytesMax: number;
  /** Sockets that one identity may have open on this service; 64 unless told. */
  readonly perIdentityMax: number;
  /** Sockets of one address whose peers have not yet said who they are; 256 unless told. */
  readonly strangersMax: number;
  /** How long such a peer may take; 10 s unless told. */
  readonly authFrameMs: number;
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
  strangersMax: 256,
  authFrameMs: 10_000,
  queuedBytesMax: 1024 * 1024,
  pingMs: 30_000,
};
const farewellMs = 2_000;

/**
 * The WebSocket edge of one service (RFC 6455), on its HTTP server. Who may not in is answered in
 * HTTP before the upgrade; whose token is revoked or expires is closed with 1008 within a second.
 */
export class SocketServer {
  /** Also those of other protocols, on reserved paths. */
  readonly guests: Guests;
  readonly #server: Server;
  readonly #options: SocketServerOptions;
  readonly #limits: SocketLimits;
  readonly #gate: SocketGate;
  /** By the largest message. */
  readonly #acceptors = new Map<number, WebSocketServer>();
  readonly #handshakes = new WeakMap<IncomingMessage, Handshake>();
  readonly #connections = new Set<SocketConnection>();
  readonly #reserved = new Map<string, UpgradeHandler>();
  readonly #handlers = new Map<string, SocketHandler>();
  #routes: Readonly<Record<string, SocketRoute>> = {};
  #prober: NodeJS.Timeout | undefined;

  constructor(server: Server, options: SocketServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#gate = new SocketGate(options);
    this.guests = new Guests({ ...this.#limits, gate: this.#gate });
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
    clearInterval(this.#prober);
    this.guests.close();
    this.#each((connection) => connection.close(1001, 'the service is stopping'));
    const terminate = () => this.#each((connection) => connection.terminate());
    setTimeout(terminate, Math.min(graceMs, farewellMs)).unref();
  }

  #listen(): void {
    if (this.#prober) return;
    const probe = () => this.#each((connection) => connection.probe());
    this.#prober = setInterval(probe, this.#limits.pingMs).unref();
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
    const handshake = new Handshake(upgrade, { faults, tracer, route: match?.route });
    this.#handshakes.set(upgrade.request, handshake);
    try {
      if (!match) throw new Fault('not_found', `there is no WebSocket at ${path}`);
      await this.#negotiate(handshake, match);
    } catch (error) {
      handshake.refuse(error);
    }
  }

  async #negotiate(handshake: Handshake, match: SocketMatch): Promise<void> {
    const { request } = handshake.upgrade;
    const handler = this.#handlers.get(match.name);
    if (!handler) throw new Error(`the WebSocket ${match.name} has no handler`);
    if (match.route.authFrame && this.#gate.isStranger(request)) {
      this.#openStranger(handshake, match, handler);
      return;
    }
    const admission = await this.#gate.admit(match.route, request);
    handshake.noteIdentity(admission.identity);
    const opening = openingOf(handshake, match);
    await handler.admit?.({ ...opening, ...admission });
    this.guests.requirePlace(admission.identity);
    // From the check to the handler all is synchronous: no place is taken twice, no message missed.
    this.#upgrade(handshake, match, (connection) => {
      this.#serve(connection, admission, handler);
    });
  }

  /** Lets in who has yet to say who they are. */
  #openStranger(handshake: Handshake, match: SocketMatch, handler: SocketHandler): void {
    const { request } = handshake.upgrade;
    const leave = this.guests.keepStranger(addressOf(request));
    handshake.upgrade.socket.once('close', leave);
    this.#upgrade(handshake, match, (connection) => {
      boundStranger(handshake.upgrade.socket, () => connection.isAdmitted);
      const admit = async (token: string) => {
        const admission = await this.#gate.admit(match.route, request, token);
        connection.admit(admission);
        await handler.admit?.(connection);
        if (connection.signal.aborted) return;
        leave();
        this.#serve(connection, admission, handler);
      };
      awaitAuthFrame(connection, { limitMs: this.#limits.authFrameMs, admit });
    });
  }

  #upgrade(
    handshake: Handshake,
    match: SocketMatch,
    take: (connection: SocketConnection) => void,
  ): void {
    const { request, socket, head } = handshake.upgrade;
    const opening = openingOf(handshake, match);
    const acceptor = this.#acceptorFor(match.route.messageBytesMax ?? this.#limits.messageBytesMax);
    acceptor.handleUpgrade(request, socket, head, (webSocket) => {
      handshake.noteUpgraded();
      const connection = new SocketConnection(webSocket, opening, {
        stream: socket,
        queuedBytesMax: this.#limits.queuedBytesMax,
        log: this.#options.log,
        wordFault: handshake.wordFault,
      });
      this.#connections.add(connection);
      webSocket.once('close', () => this.#connections.delete(connection));
      take(connection);
    });
  }

  #acceptorFor(messageBytesMax: number): WebSocketServer {
    const known = this.#acceptors.get(messageBytesMax);
    if (known) return known;
    const acceptor = createAcceptor(messageBytesMax);
    acceptor.on('wsClientError', ({ message }, _socket, request) => {
      this.#handshakes.get(request)?.refuse(new Fault('invalid', `no WebSocket: ${message}`));
    });
    this.#acceptors.set(messageBytesMax, acceptor);
    return acceptor;
  }

  #serve(connection: SocketConnection, admission: Admission, handler: SocketHandler): void {
    connection.admit(admission);
    const leave = this.guests.keep(connection, admission);
    // Also what our own side closes keeps its place until its peer has gone.
    connection.onGone(leave);
    serveSafely(handler, connection);
  }

  #each(work: (connection: SocketConnection) => void): void {
    for (const connection of this.#connections) work(connection);
  }
}

function openingOf(
  { query, origin, requestId }: Handshake,
  { params }: SocketMatch,
): OpeningRequest {
  return { params, query, origin, requestId };
}

function createAcceptor(maxPayload: number): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload,
    // Connections write frames beside `ws`, which would wait for its own to be compressed.
    perMessageDeflate: false,
  });
}

function serveSafely(handler: SocketHandler, connection: SocketConnection): void {
  try {
    handler.serve(connection);
  } catch (error) {
    connection.report(error);
    connection.close(1011, 'internal error');
  }
}
