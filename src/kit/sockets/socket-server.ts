import type { IncomingMessage, Server } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Contract, SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Log } from '../log.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { SocketConnection, type Connection, type SocketRequest } from './connection.ts';
import { asksForWebSocket, ignoreUpgrade, type Upgrade } from './ignored-upgrade.ts';
import type { HandshakeReply, Handshake } from './handshake.ts';
import { SocketGate, type Admission } from './socket-gate.ts';
import { findSocketRoute, type SocketMatch } from './socket-paths.ts';

/** What a service does with the connections of one WebSocket path. */
export interface SocketHandler<R extends SocketRoute = SocketRoute> {
  /** Last word before the upgrade; what it throws is the refusal, such as 404 for an unknown id. */
  readonly admit?: (request: SocketRequest<R>) => Promise<void> | void;
  /** Takes over an open connection. */
  readonly serve: (connection: Connection<R>) => void;
}

/** A handler for every WebSocket path of a contract; a function alone is its `serve`. */
export type SocketHandlers<C extends Contract> = {
  readonly [K in keyof NonNullable<C['sockets']>]:
    | SocketHandler<NonNullable<C['sockets']>[K]>
    | SocketHandler<NonNullable<C['sockets']>[K]>['serve'];
};

export interface SocketLimits {
  /** Largest message of a client; 1 MiB unless told. Above it the socket closes with 1009. */
  readonly messageBytesMax: number;
  /** Sockets that one identity may have open on this service; 64 unless told. */
  readonly perIdentityMax: number;
  /** What may wait to be sent on one socket; 1 MiB unless told. */
  readonly queuedBytesMax: number;
  /** How often a peer must show that it lives; 30 s unless told. */
  readonly pingMs: number;
}

export interface SocketServerOptions {
  readonly contract: Contract;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly log: Log;
  readonly reply: HandshakeReply;
  readonly limits?: Partial<SocketLimits> | undefined;
}

/** Takes over the connection of an upgrade, `upgrade` event of `node:http` in full. */
export type UpgradeHandler = (upgrade: Upgrade) => void;

const defaultLimits: SocketLimits = {
  messageBytesMax: 1024 * 1024,
  perIdentityMax: 64,
  queuedBytesMax: 1024 * 1024,
  pingMs: 30_000,
};
const recheckMs = 1_000;
const farewellMs = 2_000;

/**
 * The WebSocket edge of one service (RFC 6455), on its HTTP server. Whoever may not in is answered
 * in HTTP before the upgrade; whose token is revoked or expires is closed with 1008 within a second.
 */
export class SocketServer {
  readonly #server: Server;
  readonly #options: SocketServerOptions;
  readonly #limits: SocketLimits;
  readonly #gate: SocketGate;
  readonly #webSockets: WebSocketServer;
  readonly #connections = new Map<SocketConnection, Admission>();
  readonly #reserved = new Map<string, UpgradeHandler>();
  readonly #timers: NodeJS.Timeout[] = [];
  #handlers: Readonly<Record<string, SocketHandler>> = {};
  #isClosing = false;

  constructor(server: Server, options: SocketServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#gate = new SocketGate({ ...options, ...this.#limits });
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: this.#limits.messageBytesMax,
    });
    this.#webSockets.on('wsClientError', (error, socket, request) => {
      const fault = new Fault('invalid', `no WebSocket handshake: ${error.message}`);
      options.reply.refuse(fault, { request, socket });
    });
  }
}
