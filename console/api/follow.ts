import type { ServiceName } from './contracts.ts';
import { LastingSocket } from './lasting-socket.ts';

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

/**
 * Follows a service's stream, also when its socket ends: it comes again, a little later each time, and
 * asks for what came since the last event that it saw. Ends with `stop`.
 */
export class Follower {
  readonly #options: FollowOptions;
  readonly #socket: LastingSocket;
  /** The last event that was seen; undefined until the stream has said where it stands. */
  #position: number | undefined;
  /** What is older than this was never seen: that it is gone is no gap. */
  #beginning = 0;

  constructor(service: ServiceName, path: string, options: FollowOptions) {
    this.#options = options;
    options.onState?.('connecting');
    this.#socket = new LastingSocket(service, {
      path: () => path,
      onOpen: () => this.#subscribe(this.#position),
      onMessage: (text) => this.#receive(text),
      onLoss: () => options.onState?.('waiting'),
    });
  }

  stop(): void {
    this.#socket[Symbol.dispose]();
  }

  #subscribe(after: number | undefined): void {
    const { subscription = {} } = this.#options;
    const place = after === undefined ? {} : { after };
    this.#socket.send({ action: 'subscribe', ack: true, ...place, ...subscription });
  }

  #receive(text: string): void {
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
}
