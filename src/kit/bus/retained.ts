import type { BusEvent } from './bus.ts';

const roomAtFirst = 64;

/**
 * An event on its way to be kept: its JSON, which is read when somebody wants it, as most topics have events
 * that nobody follows; or a copy of its own.
 */
export type Content<T> = { readonly text: string } | { readonly copy: T };

/** The events of a topic that a reader may still ask for, by seq and without holes, in a ring that grows. */
export class Retained<T> {
  #ring: (Stored<T> | undefined)[] = Array.from({ length: roomAtFirst });
  readonly #origin: number;
  #last: number;
  #size = 0;

  /** `last` is the seq before that of the first event. */
  constructor(last: number) {
    this.#origin = last + 1;
    this.#last = last;
  }

  get size(): number {
    return this.#size;
  }

  /** Seq of the oldest; one more than the last where there is none. */
  get first(): number {
    return this.#last - this.#size + 1;
  }

  /** Seq of the newest that there ever was. */
  get last(): number {
    return this.#last;
  }

  /** When the oldest was published, milliseconds since the epoch; infinity where there is none. */
  get oldestAt(): number {
    return this.#ring[this.#placeOf(this.first)]?.publishedAt ?? Number.POSITIVE_INFINITY;
  }

  /** Keeps an event under the next seq, which it answers. */
  add(content: Content<T>, publishedAt: number): number {
    if (this.#size === this.#ring.length) this.#grow();
    this.#last += 1;
    this.#size += 1;
    this.#ring[this.#placeOf(this.#last)] = new Stored<T>(this.#last, content, publishedAt);
    return this.#last;
  }

  /** The same object each time; undefined for what is not kept. */
  find(seq: number): BusEvent<T> | undefined {
    if (seq > this.#last || seq < this.first) return undefined;
    return this.#ring[this.#placeOf(seq)]?.event;
  }

  dropOldest(): void {
    if (this.#size === 0) return;
    this.#ring[this.#placeOf(this.first)] = undefined;
    this.#size -= 1;
  }

  clear(): void {
    this.#ring = Array.from({ length: roomAtFirst });
    this.#size = 0;
  }

  #placeOf(seq: number): number {
    return (seq - this.#origin) % this.#ring.length;
  }

  #grow(): void {
    const kept = this.#ring;
    const placeBefore = (seq: number) => (seq - this.#origin) % kept.length;
    this.#ring = Array.from({ length: kept.length * 2 });
    for (let seq = this.first; seq <= this.#last; seq += 1) {
      this.#ring[this.#placeOf(seq)] = kept[placeBefore(seq)];
    }
  }
}

/** An event whose text is read once, by the first who wants it. */
class Stored<T> {
  readonly publishedAt: number;
  readonly #seq: number;
  #content: Content<T> | undefined;
  #event: BusEvent<T> | undefined;

  constructor(seq: number, content: Content<T>, publishedAt: number) {
    this.publishedAt = publishedAt;
    this.#seq = seq;
    this.#content = content;
  }

  get event(): BusEvent<T> | undefined {
    if (!this.#content) return this.#event;
    const data: T = 'text' in this.#content ? JSON.parse(this.#content.text) : this.#content.copy;
    this.#content = undefined;
    this.#event = { seq: this.#seq, data, publishedAt: this.publishedAt };
    return this.#event;
  }
}
