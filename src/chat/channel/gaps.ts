import { Notice, type NoticeSubject } from './notice.ts';
import type { Wire } from './wire.ts';

interface Gap {
  from: number;
  to: number;
}

const subjectsMax = 1_000;

/** What a slow reader missed, told as soon as there is room, before anything else. */
export class Gaps {
  readonly #wire: Wire;
  readonly #missed = new Map<NoticeSubject['id'], Gap>();
  #isWaiting = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Notes a loss; whoever loses parts of a thousand things is closed. */
  miss({ id, seq }: NoticeSubject): void {
    const gap = this.#missed.get(id);
    if (gap) gap.to = seq;
    else this.#missed.set(id, { from: seq, to: seq });
    if (this.#missed.size > subjectsMax) this.#wire.close(1008, 'too much was left unread');
    if (!this.#isWaiting) void this.#tellLater();
  }

  /** True once everything that was missed is told. */
  tell(): boolean {
    for (const [id, gap] of this.#missed) {
      if (!this.#wire.push(Notice.of('gap', { id, ...gap }))) return false;
      this.#missed.delete(id);
    }
    return true;
  }

  /** Forgets all: nobody is there to be told. */
  close(): void {
    this.#missed.clear();
  }

  async #tellLater(): Promise<void> {
    this.#isWaiting = true;
    await this.#wire.room();
    this.#isWaiting = false;
    if (!this.tell()) void this.#tellLater();
  }
}
