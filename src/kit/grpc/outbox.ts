/** What the connections of a server may hold in memory, in bytes. */
export interface OutboxLimits {
  /** A connection on which more waits to be sent begins no further call; 1 MiB. */
  readonly roomBytes: number;
  /** A connection that holds more is ended; 32 MiB. */
  readonly connectionBytesMax: number;
  /** When all hold more, the connection ends whose client has left an answer for longest; 256 MiB. */
  readonly serverBytesMax: number;
}

export const outboxLimits: OutboxLimits = {
  roomBytes: 1024 * 1024,
  connectionBytesMax: 32 * 1024 * 1024,
  serverBytesMax: 256 * 1024 * 1024,
};

/** The bytes of all outboxes together. */
export interface OutboxTotal {
  bytes: number;
}

export interface OutboxOptions {
  readonly limits: OutboxLimits;
  readonly total: OutboxTotal;
  /** Told when this outbox holds more than it may. */
  readonly onOverflow: () => void;
  /** Told when this outbox gets more, and all together hold more than they may. */
  readonly onTotalOverflow: () => void;
}

interface Waiting {
  readonly begin: () => void;
  readonly bytes: number;
}

/**
 * What one connection holds in memory: answers that its client has not taken, and requests that wait for
 * it to take some. So a client that reads slowly is served slowly.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting: Waiting[] = [];
  #unsentBytes = 0;
  #waitingBytes = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Counts bytes that wait to be sent. */
  hold(bytes: number): void {
    this.#unsentBytes += bytes;
    this.#count(bytes);
  }

  /** Says that held bytes have gone, and begins what waits for their room. */
  release(bytes: number): void {
    this.#unsentBytes -= bytes;
    this.#options.total.bytes -= bytes;
    while (this.#hasRoom) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.bytes;
      this.#options.total.bytes -= next.bytes;
      next.begin();
    }
  }

  /** Begins a call whose request has so many bytes, at once or when there is room for its answer. */
  admit(bytes: number, begin: () => void): void {
    if (this.#hasRoom) return begin();
    this.#waiting.push({ begin, bytes });
    this.#waitingBytes += bytes;
    this.#count(bytes);
  }

  get #hasRoom(): boolean {
    return this.#unsentBytes < this.#options.limits.roomBytes;
  }

  #count(bytes: number): void {
    const { limits, total, onOverflow, onTotalOverflow } = this.#options;
    total.bytes += bytes;
    if (this.#unsentBytes + this.#waitingBytes > limits.connectionBytesMax) onOverflow();
    else if (total.bytes > limits.serverBytesMax) onTotalOverflow();
  }
}
