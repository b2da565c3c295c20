import type { ServiceName } from './contracts.ts';
import { openSocket } from './events.ts';
import { send } from './send.ts';

/** How a follower stands with its stream. */
export type FollowState = 'connecting' | 'live' | 'waiting';

export interface FollowOptions {
  /** Fields of the stream's own in the subscribe message. */
  readonly subscription?: Readonly<Record<string, unknown>>;
  /** So many of the newest events that are retained come first; none unless told. */
  readonly historyCount?: number;
  readonly onEvent: (event: unknown, seq: number) => void;
  /** Events that are lost. */
  readonly onGap?: (gap: Gap) => void;
  readonly onState?: (state: FollowState) => void;
  readonly onRefusal?: (message: string) => void;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  /** The service counts from the start again: what it told while nobody followed may be lost. */
  readonly isRestart?: boolean;
}

const delayMsMin = 500;
const delayMsMax = 15_000;

/**
 * Follows a service's stream, also when its socket ends: it comes again, a little later each time, and
 * asks for what came since the last event that it saw. Ends with `stop`.
 */
export class Follower {
  readonly #service: ServiceName;
  readonly #path: string;
  readonly #options: FollowOptions;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #delayMs = delayMsMin;
  /** The last event that was seen; undefined until the stream has said where it stands. */
  #position: number | undefined;
  /** What is older than this was never seen: that it is gone is no gap. */
  #beginning = 0;
  #isStopped = false;

  constructor(service: ServiceName, path: string, options: FollowOptions) {
    this.#service = service;
    this.#path = path;
    this.#options = options;
    this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    if (this.#isStopped) return;
    this.#options.onState?.('connecting');
    const socket = openSocket(this.#service, this.#path);
    this.#socket = socket;
    socket.addEventListener('open', () => this.#subscribe(this.#position));
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => this.#comeAgain());
  }

  #subscribe(after: number | undefined): void {
    const { subscription = {} } = this.#options;
    const place = after === undefined ? {} : { after };
    this.#socket?.send(
      JSON.stringify({ action: 'subscribe', ack: true, ...place, ...subscription }),
    );
  }

  #receive(text: string): void {
    if (this.#isStopped) return;
    const message = JSON.parse(text) as { type?: string; seq?: number };
    if (message.type === 'subscribed') this.#settle(message.seq ?? 0);
    else if (message.type === 'gap') this.#skip(message as unknown as Gap);
    else if (message.type === 'error') this.#refuse(message);
    else if (message.seq !== undefined) {
      this.#position = message.seq;
      this.#options.onEvent(message, message.seq);
    }
  }

  #settle(seq: number): void {
    this.#delayMs = delayMsMin;
    this.#options.onState?.('live');
    const { historyCount = 0 } = this.#options;
    if (this.#position === undefined) {
      this.#beginning = seq;
      this.#position = Math.max(0, seq - historyCount);
      if (this.#position < seq) this.#subscribe(this.#position);
    } else if (seq < this.#position) {
      this.#options.onGap?.({ from: seq, to: this.#position, isRestart: true });
      this.#position = 0;
      this.#beginning = 0;
      if (seq > 0) this.#subscribe(0);
    }
  }

  #skip(gap: Gap): void {
    this.#position = gap.to;
    if (gap.to > this.#beginning) this.#options.onGap?.(gap);
  }

  #refuse(message: object): void {
    const { error } = message as { error?: { message?: string } };
    this.#options.onRefusal?.(error?.message ?? 'the stream refused the subscription');
  }

  #comeAgain(): void {
    if (this.#isStopped) return;
    this.#options.onState?.('waiting');
    this.#timer = setTimeout(() => void this.#renew(), this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, delayMsMax);
  }

  /** A socket cannot renew the session when its token has run out; a request can. */
  async #renew(): Promise<void> {
    await send(new Request('/session')).catch(() => {});
    this.#connect();
  }
}
