import type { Log } from '../log.ts';
import type { Topic } from '../bus/bus.ts';
import { Fault } from '../errors.ts';
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
  /** False when the bus does not reach the issuer: then the issuer is asked twice a second. */
  readonly isBusShared: boolean;
  readonly log: Log;
}

const pollAloneMs = 400;
const pollBesideBusMs = 30_000;
const staleMsMax = 300_000;

/**
 * Keeps a revocation list true: the bus brings each revocation at once, the issuer's own list brings
 * what was revoked before this process started or while the bus was away. Without a shared bus the
 * issuer is asked often enough to refuse a revoked token within a second.
 */
export class RevocationFeed implements AsyncDisposable {
  readonly #options: RevocationFeedOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #after = 0;
  #readAt = 0;
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

  /** Throws `unavailable` when the list was never read, or not for five minutes. */
  requireFresh = (): void => {
    if (Date.now() - this.#readAt <= staleMsMax) return;
    throw new Fault('unavailable', 'revocations cannot be read now, so no token can be trusted', {
      retryAfter: 1,
    });
  };

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
    const isSettled = this.#options.isBusShared && this.#readAt > 0;
    this.#timer = setTimeout(() => void this.#poll(), isSettled ? pollBesideBusMs : pollAloneMs);
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
    this.#readAt = startedAt;
  }
}
