import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { WebSocket, type RawData } from 'ws';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { AskedIds } from './asked-ids.ts';
import {
  answerTooLarge,
  authorizationRequired,
  linkClosed,
  notMcp,
  statusFault,
  unreachable,
} from './link-faults.ts';

export interface WebSocketTransportOptions {
  readonly egress: Pick<Egress, 'checkUrl' | 'lookup'>;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one message. */
  readonly bytesMax: number;
  /** Between two pings; a connection that answered none of the last is given up. */
  readonly pingMs?: number;
}

const handshakeMs = 10_000;
const defaultPingMs = 30_000;
const unsentBytesMax = 32 * 1024 * 1024;

/**
 * MCP over WebSocket: no transport of the standard but a custom one, as it allows. One JSON-RPC
 * message for each text frame, in UTF-8, under the subprotocol `mcp`, which the server has to agree
 * to. Either side may ping; closing the socket ends the link.
 */
export class WebSocketTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport['onmessage'];
  readonly #options: WebSocketTransportOptions;
  readonly #asked = new AskedIds();
  #socket: WebSocket | undefined;
  #pings: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(options: WebSocketTransportOptions) {
    this.#options = options;
  }

  /** Rejects with the Faults of `Link`. */
  async start(): Promise<void> {
    const { egress, headers, bytesMax } = this.#options;
    const url = egress.checkUrl(this.#options.url, { schemes: ['ws', 'wss'] });
    const socket = new WebSocket(url, 'mcp', {
      headers: { ...headers },
      lookup: egress.lookup,
      handshakeTimeout: handshakeMs,
      followRedirects: false,
      maxPayload: bytesMax,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#end());
    await opened(socket);
    socket.on('error', (error) => this.onerror?.(this.#explain(error)));
    this.#watch(socket);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) throw linkClosed();
    if (socket.bufferedAmount > unsentBytesMax) {
      throw new Fault('unavailable', 'the server does not read what it is sent', {
        reason: 'unreachable',
      });
    }
    this.#asked.noteSent(message);
    await new Promise<void>((resolve, reject) => {
      socket.send(JSON.stringify(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    if (!socket || socket.readyState === WebSocket.CLOSED) return this.#end();
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    socket.close(1000);
    // A server that does not answer the close loses the connection all the same.
    const timer = setTimeout(() => socket.terminate(), 1_000);
    await closed;
    clearTimeout(timer);
  }

  #receive(data: RawData, isBinary: boolean): void {
    try {
      if (isBinary) throw notMcp();
      // The client checks the message itself; text frames arrive as one buffer.
      // oxlint-disable-next-line typescript/no-base-to-string
      const message = JSON.parse(data.toString()) as JSONRPCMessage;
      this.onmessage?.(this.#asked.received(message));
    } catch (error) {
      this.onerror?.(error instanceof Fault ? error : notMcp(error));
      this.#socket?.terminate();
    }
  }

  #watch(socket: WebSocket): void {
    let isAlive = true;
    socket.on('pong', () => {
      isAlive = true;
    });
    this.#pings = setInterval(() => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    }, this.#options.pingMs ?? defaultPingMs);
    this.#pings.unref();
  }

  #end(): void {
    clearInterval(this.#pings);
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.onclose?.();
  }

  #explain(error: Error): Error {
    const isLarge = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    return isLarge ? answerTooLarge(this.#options.bytesMax) : notMcp(error);
  }
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.removeAllListeners('error').removeAllListeners('unexpected-response');
      resolve();
    });
    socket.once('unexpected-response', (request, response) => {
      request.destroy();
      const status = response.statusCode ?? 0;
      const retryAfter = response.headers['retry-after'];
      reject(status === 401 ? authorizationRequired() : statusFault(status, { retryAfter }));
    });
    socket.on('error', (error) => {
      const isRefused = /subprotocol|sec-websocket|upgrade/i.test(error.message);
      if (error instanceof Fault) reject(error);
      else reject(isRefused ? notMcp(error) : unreachable(error));
    });
  });
}
