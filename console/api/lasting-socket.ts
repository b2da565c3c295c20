import type { ServiceName } from './contracts.ts';
import { openSocket } from './events.ts';
import { send } from './send.ts';

export interface LastingSocketOptions {
  /** Where the service's socket is, asked at each attempt. */
  readonly path: () => string;
  /** Whenever the socket stands, the first time and after a loss. */
  readonly onOpen?: () => void;
  readonly onMessage: (text: string) => void;
  /** It is lost, and comes again by itself. */
  readonly onLoss?: () => void;
  /** Before each further attempt; the session is renewed unless told. */
  readonly beforeReturn?: () => Promise<unknown>;
  /** A close after which it is not opened again. */
  readonly isFinal?: (code: number) => boolean;
}

const delayMsMin = 1_000;
const delayMsMax = 15_000;
/** After so long a socket was a sound one, and its loss is a first one. */
const soundMs = 5_000;

/**
 * A socket of a service that is opened again when it is lost, a little later each time. The owner disposes
 * of it; nothing is told after that.
 */
export class LastingSocket implements Disposable {
  readonly #service: ServiceName;
  readonly #options: LastingSocketOptions;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #delayMs = delayMsMin;
  #isOver = false;

  constructor(service: ServiceName, options: LastingSocketOptions) {
    this.#service = service;
    this.#options = options;
    this.#connect();
  }

  send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    const { path, onOpen, onMessage, onLoss, isFinal } = this.#options;
    const socket = openSocket(this.#service, path());
    this.#socket = socket;
    let openedAt = Infinity;
    socket.addEventListener('open', () => {
      openedAt = Date.now();
      if (!this.#isOver) onOpen?.();
    });
    socket.addEventListener('message', ({ data }) => {
      if (!this.#isOver) onMessage(String(data));
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#isOver || isFinal?.(code)) return;
      onLoss?.();
      // One that is opened and closed at once was refused behind the console.
      if (Date.now() - openedAt >= soundMs) this.#delayMs = delayMsMin;
      this.#timer = setTimeout(() => void this.#comeAgain(), this.#delayMs);
      this.#delayMs = Math.min(this.#delayMs * 2, delayMsMax);
    });
  }

  async #comeAgain(): Promise<void> {
    const { beforeReturn = renewSession } = this.#options;
    await beforeReturn().catch(() => {});
    if (!this.#isOver) this.#connect();
  }
}

/** A socket cannot renew the session when its token has run out; a request can. */
function renewSession(): Promise<unknown> {
  return send(new Request('/session'));
}
