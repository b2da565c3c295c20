import type { Log } from '../log.ts';
import type { Topic } from '../bus/bus.ts';
import type { Revocation, RevocationList } from './revocations.ts';

/** A page of the issuer's revocations: those after `after`, and where to go on. */
export interface RevocationPage {
  readonly revocations: readonly Revocation[];
  readonly next: number;
}

export interface RevocationFeedOptions {
  readonly list: RevocationList;
  readonly fetchPage: (after: number) => Promise<RevocationPage>;
  readonly topic: Topic<Revocation>;
  readonly log: Log;
}

const pollMs = 400;

/**
 * Keeps a revocation list true. The bus brings each revocation at once, where it reaches the issuer;
 * the issuer's own list, asked twice a second, brings what was revoked before this process started,
 * while the bus was away, or where there is no common bus.
 */
export class RevocationFeed implements AsyncDisposable {
  readonly #options: RevocationFeedOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #after = 0;
  #closeTopic: (() => Promise<void>) | undefined;

  constructor(options: RevocationFeedOptions) {
    this.#options = options;
  }

  /** Subscribes and begins to read the issuer's list; an issuer that is not up yet is asked again. */
  async start(): Promise<void> {
    const { topic, list } = this.#options;
    const subscription = await topic.subscribe(({ data }) => list.add(data));
    this.#closeTopic = () => subscription.close();
    await this.#poll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    await this.#closeTopic?.();
  }

  async #poll(): Promise<void> {
    await this.read().catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'revocations could not be read; trying again');
    });
    if (this.#stopped.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#poll(), pollMs);
    this.#timer.unref();
  }

  /** Reads what the issuer's list has that this one has not; rejects when it cannot be read. */
  async read(): Promise<void> {
    const startedAt = Date.now();
    for (;;) {
      const page = await this.#options.fetchPage(this.#after);
      for (const revocation of page.revocations) this.#options.list.add(revocation);
      const isLast = page.next === this.#after || page.revocations.length === 0;
      this.#after = page.next;
      if (isLast) break;
    }
    this.#options.list.markRead(startedAt);
  }
}
