import { makeServer, type Context, type Server, type SubscribePayload } from 'graphql-ws';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import { WebSocketServer, type WebSocket } from 'ws';
import { Fault } from '../../kit/errors.ts';
import { bearerTokenOf } from '../../kit/http/credential.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import { invalidToken } from '../../kit/identity/claims.ts';
import type { Log } from '../../kit/log.ts';
import type { Guests } from '../../kit/sockets/guests.ts';
import { addressOf } from '../../kit/sockets/socket-gate.ts';
import { boundStranger } from '../../kit/sockets/stranger-bytes.ts';
import type { Upgrade } from '../../kit/sockets/upgrade.ts';
import { frameBytesMax } from '../schemas/channel.ts';
import { maskError } from './errors.ts';
import type { GraphqlEngine, PreparedOperation } from './engine.ts';
import { SocketPeer } from './socket-peer.ts';

export interface SocketOptions {
  readonly engine: GraphqlEngine;
  readonly guests: Guests;
  readonly socketOpened?: () => () => void;
  readonly log: Log;
}

type InitPayload = Readonly<Record<string, unknown>>;
/** What the protocol knows of a connection. */
type Extra = Record<'peer', SocketPeer>;
type RunnableArgs = ExecutionArgs & Pick<PreparedOperation, 'run'>;

const subprotocol = 'graphql-transport-ws';
const operationsMax = 32;
const initMs = 10_000;
const pingMs = 30_000;

/**
 * Operations over WebSockets, by the protocol `graphql-transport-ws`. Who the peer is it says in
 * `connectionParams` (`authorization`, `token` or `auth.token`), else its handshake says it.
 */
export class GraphqlSockets implements Disposable {
  readonly #options: SocketOptions;
  readonly #protocol: Server<Extra>;
  readonly #acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  readonly #peers = new Set<SocketPeer>();
  readonly #prober: NodeJS.Timeout;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#protocol = makeServer<InitPayload, Extra>({
      connectionInitWaitTimeout: initMs,
      onConnect: (context) => this.#connect(context),
      onSubscribe: (context, _id, payload) => this.#prepare(context, payload),
      execute: run,
      subscribe: run,
    });
    this.#prober = setInterval(() => this.#probe(), pingMs).unref();
  }

  /** Takes over a connection whose request asked for a WebSocket. */
  take({ request, socket, head }: Upgrade): void {
    try {
      const leaveStrangers = this.#options.guests.keepStranger(addressOf(request));
      socket.once('close', leaveStrangers);
      this.#acceptor.handleUpgrade(request, socket, head, (webSocket) => {
        const peer = new SocketPeer(webSocket, { request, leaveStrangers });
        boundStranger(socket, () => peer.isKnown);
        this.#open(webSocket, peer);
      });
    } catch (error) {
      const { status } = Fault.from(error);
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#prober);
    for (const peer of this.#peers) peer.close(1001, 'the service is stopping');
  }

  #open(webSocket: WebSocket, peer: SocketPeer): void {
    const socketClosed = this.#options.socketOpened?.();
    this.#peers.add(peer);
    webSocket.on('error', (error) => this.#options.log.debug({ err: error }, 'a socket failed'));
    const closed = this.#protocol.opened(
      {
        protocol: webSocket.protocol,
        send: (text) => peer.send(text),
        close: (code = 1000, reason = '') => peer.close(code, reason),
        onMessage: (take) => {
          // A server's sockets give each message as one Buffer unless told otherwise.
          webSocket.on('message', (data: Buffer) => void this.#hear(peer, data.toString(), take));
        },
      },
      { peer },
    );
    webSocket.once('close', (code, reason) => {
      this.#peers.delete(peer);
      socketClosed?.();
      peer.end();
      void closed(code, reason.toString());
    });
  }

  /** Nothing is parsed that a request's body may not hold either. */
  async #hear(peer: SocketPeer, text: string, take: (text: string) => Promise<void>) {
    try {
      parseJsonBody(text);
      await take(text);
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code === 'internal') this.#options.log.error({ err: error }, 'internal error');
      peer.refuse(fault);
    }
  }

  async #connect({ connectionParams, extra: { peer } }: Context<InitPayload, Extra>) {
    const { guests } = this.#options;
    try {
      const admission = await guests.admit({}, peer.request, tokenOf(connectionParams));
      if (peer.isGone) return false;
      peer.admit(admission, guests.keep(peer, admission));
      return true;
    } catch (error) {
      peer.refuse(Fault.from(error));
      return false;
    }
  }

  async #prepare(
    { extra: { peer }, subscriptions }: Context<InitPayload, Extra>,
    payload: SubscribePayload,
  ): Promise<RunnableArgs | readonly GraphQLError[]> {
    const { engine, guests, log } = this.#options;
    try {
      const asker = peer.requireAsker();
      guests.takeCall(asker.caller.identity);
      if (Object.keys(subscriptions).length > operationsMax) throw tooManyOperations();
      peer.requireReader();
      const prepared = await engine.prepare(payload, asker);
      return 'run' in prepared ? { ...prepared.args, run: prepared.run } : prepared;
    } catch (error) {
      return [maskError(error, log)];
    }
  }

  #probe(): void {
    for (const peer of this.#peers) peer.probe();
  }
}

/** What `#prepare` answers carries its own way to run. */
function run(args: ExecutionArgs): never {
  return (args as RunnableArgs).run(args) as never;
}

/** The token that stands in `connectionParams`, if there is one. */
function tokenOf(params: InitPayload | undefined): string | undefined {
  const { auth, token = tokenIn(auth), authorization = params?.['Authorization'] } = params ?? {};
  if (typeof token === 'string' && token !== '') return token;
  if (authorization === undefined || authorization === null) return undefined;
  const bearer = typeof authorization === 'string' ? bearerTokenOf(authorization) : undefined;
  if (bearer !== undefined) return bearer;
  throw invalidToken('authorization in connectionParams is malformed', 'header_malformed');
}

/** As Socket.IO's handshake has it: `{auth: {token}}`. */
function tokenIn(auth: unknown): unknown {
  return typeof auth === 'object' && auth !== null && 'token' in auth ? auth.token : undefined;
}

function tooManyOperations(): Fault {
  return new Fault('exhausted', `at most ${operationsMax} operations may run on one connection`, {
    reason: 'too_many_operations',
  });
}
