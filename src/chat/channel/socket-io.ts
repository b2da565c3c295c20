import { Server as InnerServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Server, Socket } from 'socket.io';
import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { invalidToken } from '../../kit/identity/claims.ts';
import type { Guest } from '../../kit/sockets/guests.ts';
import type { Admission } from '../../kit/sockets/socket-gate.ts';
import { boundStranger } from '../../kit/sockets/stranger-bytes.ts';
import { frameBytesMax } from '../schemas/channel.ts';
import type { Channel } from './channel.ts';
import type { Desk } from './desk.ts';
import { describeFault, statusOfFault } from '../envelope.ts';
import { boundBodies, sessionOf, type EngineConnection } from './engine-io.ts';
import { Notice } from './notice.ts';
import { SocketIoWire } from './socket-io-wire.ts';
import { Strangers } from './strangers.ts';
import { Tab } from './tab.ts';

export interface SocketIoParts {
  readonly http: HttpServer;
  readonly channel: Channel;
  readonly desk: Desk;
  /** How long a connection may take to say whose it is; ten seconds when absent. */
  readonly introductionMs?: number | undefined;
}

const path = '/socket.io';
const introductionMsDefault = 10_000;
const waitingMax = 64;

/**
 * Serves the channel by Socket.IO (protocol 5) below `/socket.io`, over WebSockets and polling. To be
 * opened before the server listens; the owner disposes of it.
 */
export async function openSocketIo(parts: SocketIoParts): Promise<AsyncDisposable> {
  // Loaded only where it is served: it takes a while.
  const { Server } = await import('socket.io');
  // Listens nowhere: what belongs to Socket.IO is handed over by the server that does.
  const inner = new InnerServer();
  const guests = parts.http.sockets.guests;
  const { introductionMs = introductionMsDefault } = parts;
  const strangers = new Strangers(guests, introductionMs);
  const io = new Server(inner, {
    path,
    serveClient: false,
    maxHttpBufferSize: frameBytesMax,
    // Strangers are closed before, with a code of ours.
    connectTimeout: 2 * introductionMs,
    httpCompression: false,
    perMessageDeflate: false,
  });
  io.engine.on('connection', (engine: EngineConnection) => strangers.note(engine));
  io.engine.on('connection_error', ({ req }: { req: IncomingMessage }) => strangers.leave(req));
  const admissions = new Admissions(parts, strangers);
  io.use((socket, next) => void admissions.admit(socket, next));
  io.on('connection', (socket) => admissions.serve(socket));
  handOver(parts.http, inner, {
    takePlace: (request) => strangers.takePlace(request),
    isKnown: (request) => admissions.isKnown(request),
  });
  parts.http.app.addHook('preClose', () => void io.engine.close());
  return { [Symbol.asyncDispose]: () => close(io) };
}

async function close(io: Server): Promise<void> {
  await io.close();
}

interface Entrance {
  /** Throws why a request may begin nothing. */
  readonly takePlace: (request: IncomingMessage) => void;
  readonly isKnown: (request: IncomingMessage) => boolean;
}

/** Polling comes by Fastify, which leaves the bodies to Engine.IO. */
function handOver(http: HttpServer, inner: InnerServer, { takePlace, isKnown }: Entrance): void {
  http.sockets.reserve(path, ({ request, socket, head }) => {
    // Until it is taken nobody listens, and an unheard error would end the process.
    socket.on('error', () => socket.destroy());
    try {
      takePlace(request);
    } catch (error) {
      refuseUpgrade(socket, Fault.from(error));
      return;
    }
    inner.emit('upgrade', request, socket, head);
    boundStranger(socket, () => isKnown(request));
  });
  void http.app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
    scope.route({
      method: ['GET', 'POST'],
      url: `${path}/`,
      handler: (request, reply) => {
        takePlace(request.raw);
        void reply.hijack();
        inner.emit('request', request.raw, reply.raw);
      },
    });
    done();
  });
}

/** In the words of every refusal of this service. */
function refuseUpgrade(socket: Duplex, fault: Fault): void {
  const body = JSON.stringify(describeFault(fault));
  const lines = [
    `HTTP/1.1 ${statusOfFault(fault)} Refused`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Lets sockets in by what they or their requests show, and serves them. */
class Admissions {
  readonly #parts: SocketIoParts;
  readonly #strangers: Strangers;
  /** Each connection carries one socket. */
  readonly #connections = new WeakSet<object>();
  readonly #known = new WeakMap<Socket, { admission: Admission; leave: () => void }>();
  /** What their connections began with, and the sessions of those that are open. */
  readonly #knownRequests = new WeakSet<IncomingMessage>();
  readonly #knownSessions = new Set<string>();

  constructor(parts: SocketIoParts, strangers: Strangers) {
    this.#parts = parts;
    this.#strangers = strangers;
  }

  isKnown(request: IncomingMessage): boolean {
    return this.#knownRequests.has(request) || this.#knownSessions.has(sessionOf(request));
  }

  async admit(socket: Socket, next: (error?: Error) => void): Promise<void> {
    const { conn, request } = socket;
    const isFirst = !this.#connections.has(conn);
    this.#connections.add(conn);
    try {
      if (!isFirst) throw new Fault('conflict', 'a connection carries one socket');
      const { guests } = this.#parts.http.sockets;
      const admission = await guests.admit({}, request, tokenOf(socket));
      const leave = guests.keep(guestOf(socket, this.#parts.desk), admission);
      conn.once('close', leave);
      if (conn.readyState !== 'open') leave();
      this.#known.set(socket, { admission, leave });
      this.#strangers.leave(request);
      this.#noteKnown(conn, request);
      next();
    } catch (error) {
      // A refused one may try again, with another token.
      if (isFirst) this.#connections.delete(conn);
      const { message } = Fault.from(error);
      next(
        Object.assign(new Error(message), { data: { message, ...this.#parts.desk.word(error) } }),
      );
    }
  }

  #noteKnown(conn: Socket['conn'], request: IncomingMessage): void {
    const { id } = conn as unknown as EngineConnection;
    this.#knownRequests.add(request);
    this.#knownSessions.add(id);
    conn.once('close', () => this.#knownSessions.delete(id));
    if (conn.readyState !== 'open') this.#knownSessions.delete(id);
    boundBodies(conn, frameBytesMax);
  }

  serve(socket: Socket): void {
    const known = this.#known.get(socket);
    if (!known) throw new Error('a socket was not admitted');
    const { channel, desk } = this.#parts;
    const wire = new SocketIoWire(socket);
    const tab = new Tab(known.admission, wire);
    const leave = channel.add(tab, 'socket.io');
    const queue = new EventQueue(tab, { desk, wire });
    socket.onAny((event: string, ...values: unknown[]) => queue.add(event, values));
    socket.on('disconnect', () => {
      leave();
      known.leave();
      socket.conn.close();
    });
    forgetRequest(socket);
  }
}

/** Kept for nobody, and worth more memory than all the rest of a socket that is silent. */
function forgetRequest(socket: Socket): void {
  const { conn, handshake } = socket;
  (conn as unknown as EngineConnection).request = undefined;
  Object.assign(handshake, { headers: {}, auth: {}, query: {}, url: '' });
}

/** In Socket.IO's own way, or as everywhere else. */
function tokenOf({ handshake: { auth } }: Socket): string | undefined {
  const { token } = auth as { token?: unknown };
  if (token === undefined || token === null) return undefined;
  if (typeof token === 'string') return token;
  throw invalidToken('auth.token must be a text');
}

function guestOf(socket: Socket, desk: Desk): Guest {
  return {
    close: (code, reason) => {
      const wire = new SocketIoWire(socket);
      if (code === 1008) {
        wire.push(Notice.of('error', desk.word(invalidToken(reason))));
      }
      wire.close(code);
    },
  };
}

interface Waiting {
  readonly event: string;
  readonly data: unknown;
  readonly acknowledge: ((outcome: object) => void) | undefined;
}

/** The events of one socket, done one after the other. */
class EventQueue {
  readonly #tab: Tab;
  readonly #desk: Desk;
  readonly #wire: SocketIoWire;
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(tab: Tab, { desk, wire }: { readonly desk: Desk; readonly wire: SocketIoWire }) {
    this.#tab = tab;
    this.#desk = desk;
    this.#wire = wire;
  }

  add(event: string, values: readonly unknown[]): void {
    const last = values.at(-1);
    const acknowledge =
      typeof last === 'function' ? (last as (outcome: object) => void) : undefined;
    const [data] = acknowledge ? values.slice(0, -1) : values;
    if (this.#waiting.length >= waitingMax) {
      this.#wire.close(1008);
      return;
    }
    this.#waiting.push({ event, data, acknowledge });
    void this.#workOff();
  }

  async #workOff(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const done = this.#do(next);
      // What a user says may take a model to understand, and a `stop` must not wait for it.
      if (next.event !== 'voice_command') await done;
    }
    this.#isBusy = false;
  }

  async #do({ event, data, acknowledge }: Waiting): Promise<void> {
    const outcome = await this.#obey(event, data);
    if (!acknowledge || this.#tab.isClosed) return;
    // Acknowledgements cannot be lost, so whoever does not read them goes.
    if (this.#wire.isStuck()) this.#wire.close(1008);
    else acknowledge(outcome);
  }

  #obey(event: string, data: unknown): Promise<object> | object {
    try {
      return this.#desk.obey(this.#tab, event, clean(data));
    } catch (error) {
      return this.#desk.refuse(this.#tab, error, event);
    }
  }
}

/** As strict as with JSON of our own reading; throws what is wrong. */
function clean(data: unknown): unknown {
  return data === undefined ? undefined : parseJsonBody(JSON.stringify(data));
}
