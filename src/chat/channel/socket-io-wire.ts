import type { Duplex } from 'node:stream';
import type { Socket } from 'socket.io';
import type { Notice } from './notice.ts';
import type { Wire } from './wire.ts';

/** Where `ws` keeps what a WebSocket runs over. */
const streamKey = '_socket';

interface EngineTransport {
  readonly name: string;
  /** Of the transport `websocket`. */
  readonly socket?: { readonly readyState: number; readonly [streamKey]?: Duplex };
}

/** What Engine.IO's socket has besides its declared fields. */
interface EngineSocket {
  readonly readyState: string;
  readonly upgrading: boolean;
  readonly writeBuffer: readonly unknown[];
  readonly transport: EngineTransport;
  write(packet: string): void;
  close(discard?: boolean): void;
  once(event: 'drain' | 'close', listener: () => void): void;
  off(event: 'drain' | 'close', listener: () => void): void;
}

const queuedBytesMax = 1024 * 1024;
const open = 1;

/**
 * The way to a socket of Socket.IO. Over a WebSocket the frame that was made for all sockets is written
 * to the stream at once, as Engine.IO would in the end; while Engine.IO holds packets back itself, or
 * the client polls, it takes ours behind them. More than 1 MiB never waits.
 */
export class SocketIoWire implements Wire {
  readonly #socket: Socket;
  readonly #engine: EngineSocket;
  /** What Engine.IO holds back, in characters. */
  #heldLength = 0;
  /** Of the event that was queued last. */
  #lastLength = 0;
  #isFull = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Its declaration leaves out what decides whether a packet goes out at once.
    this.#engine = socket.conn as unknown as EngineSocket;
  }

  push(notice: Notice): boolean {
    if (!this.#hasRoom()) return false;
    const stream = this.#directStream();
    if (stream) {
      this.#lastLength = notice.packetFrame.length;
      stream.write(notice.packetFrame);
    } else this.#hold(notice.packet);
    return true;
  }

  /**
   * Whether its reader has left more unread than the newest event, which may be as long as it likes: one
   * that was just told something long is not stuck.
   */
  isStuck(): boolean {
    return this.#queuedLength - this.#lastLength >= queuedBytesMax;
  }

  room(): Promise<void> {
    const engine = this.#engine;
    if (!this.#isFull || engine.readyState !== 'open') return Promise.resolve();
    const stream = engine.transport.socket?.[streamKey];
    return new Promise((resolve) => {
      const done = () => {
        engine.off('drain', done);
        engine.off('close', done);
        stream?.off('drain', done);
        this.#isFull = false;
        resolve();
      };
      engine.once('drain', done);
      engine.once('close', done);
      stream?.once('drain', done);
    });
  }

  /** One whose service stops comes again by itself; a refusal is final, in the words of Socket.IO. */
  close(code: number): void {
    if (code === serviceRestarts) this.#engine.close();
    else this.#socket.disconnect(true);
  }

  /** Whether anything may still be queued for it. */
  #hasRoom(): boolean {
    if (this.#isFull || this.#engine.readyState !== 'open') return false;
    this.#isFull = this.#queuedLength >= queuedBytesMax;
    return !this.#isFull;
  }

  get #queuedLength(): number {
    return (this.#engine.transport.socket?.[streamKey]?.writableLength ?? 0) + this.#heldLength;
  }

  #directStream(): Duplex | undefined {
    const { transport, writeBuffer, upgrading } = this.#engine;
    if (upgrading || writeBuffer.length > 0 || transport.name !== 'websocket') return undefined;
    return transport.socket?.readyState === open ? transport.socket[streamKey] : undefined;
  }

  #hold(packet: string): void {
    this.#lastLength = packet.length;
    this.#engine.write(packet);
    if (this.#engine.writeBuffer.length === 0) {
      this.#heldLength = 0;
      return;
    }
    if (this.#heldLength === 0) {
      this.#engine.once('drain', () => {
        this.#heldLength = 0;
      });
    }
    this.#heldLength += packet.length;
  }
}

const serviceRestarts = 1001;
