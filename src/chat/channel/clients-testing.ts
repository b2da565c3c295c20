import { EventEmitter } from 'node:events';
import { io, type Socket } from 'socket.io-client';
import type { ReadJson } from '../../kit/http/testing.ts';
import { TestClient } from '../../kit/sockets/testing.ts';

export interface Frame {
  readonly event: string;
  readonly data: ReadJson;
}

/** A client that keeps all that it is told; the same over both protocols. */
export interface ChannelClient {
  readonly frames: readonly Frame[];
  send(event: string, data: unknown): void;
  /** The next event of a kind that was not asked for before. */
  next(event: string): Promise<Frame['data']>;
  close(): void;
}

/** A client over a plain WebSocket. */
export async function connectPlain(url: string, token: string): Promise<ChannelClient> {
  const headers = { authorization: `Bearer ${token}` };
  const client = await new TestClient(url, { headers }).opened();
  const inbox = new FrameBox();
  client.socket.on('message', (text: Buffer) => inbox.add(JSON.parse(text.toString()) as Frame));
  return {
    frames: inbox.frames,
    send: (event, data) => client.send({ event, data }),
    next: (event) => inbox.next(event),
    close: () => client.socket.close(),
  };
}

export type SocketIoClient = ChannelClient & { readonly socket: Socket };

export interface SocketIoOptions {
  readonly transports?: readonly ('websocket' | 'polling')[];
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** A client over Socket.IO; rejects with the server's refusal. */
export async function connectSocketIo(
  url: string,
  { transports = ['websocket'], token, headers = {}, query = {} }: SocketIoOptions,
): Promise<SocketIoClient> {
  const socket = io(url, {
    transports: [...transports],
    forceNew: true,
    reconnection: false,
    extraHeaders: { ...headers },
    query: { ...query },
    ...(token === undefined ? {} : { auth: { token } }),
  });
  const inbox = new FrameBox();
  socket.onAny((event: string, data: unknown) => inbox.add({ event, data }));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', (error) => {
      socket.close();
      reject(error);
    });
  });
  return {
    socket,
    frames: inbox.frames,
    send: (event, data) => void socket.emit(event, data),
    next: (event) => inbox.next(event),
    close: () => void socket.close(),
  };
}

class FrameBox {
  readonly frames: Frame[] = [];
  readonly #places = new Map<string, number>();
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  add(frame: Frame): void {
    this.frames.push(frame);
    this.#emitter.emit('frame');
  }

  async next(event: string): Promise<Frame['data']> {
    for (let at = this.#places.get(event) ?? 0; ; at += 1) {
      while (at >= this.frames.length) {
        await new Promise((resolve) => this.#emitter.once('frame', resolve));
      }
      if (this.frames[at]?.event !== event) continue;
      this.#places.set(event, at + 1);
      return this.frames[at]?.data;
    }
  }
}
