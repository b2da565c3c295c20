import type { Log } from '../log.ts';
import type { BusEvent, Gap, SubscribeOptions } from './bus.ts';

export interface ReaderOptions<T> {
  readonly handler: (event: BusEvent<T>) => void;
  readonly onGap: SubscribeOptions['onGap'];
  /** The seq to start behind. */
  readonly position: number;
  readonly log: Log;
}

/** One subscriber's place in a topic: passes events on in order and once, and tells what is missing. */
export class Reader<T> {
  readonly #options: ReaderOptions<T>;
  #position: number;
  #isClosed = false;

  constructor(options: ReaderOptions<T>) {
    this.#options = options;
    this.#position = options.position;
  }

  /** The seq of the last event that was passed on or given up. */
  get position(): number {
    return this.#position;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Compares the place with what the topic holds (`first`…`last`; none: first is last + 1). */
  align(first: number, last: number): void {
    const isForeign = this.#position > last;
    if (isForeign) this.#moveTo(first - 1, 0);
    else if (this.#position < first - 1) this.#moveTo(first - 1, this.#position + 1);
  }

  /** Passes the event on unless it was seen; a jump in the numbers becomes a gap first. */
  accept(event: BusEvent<T>): void {
    if (this.#isClosed || event.seq <= this.#position) return;
    if (event.seq > this.#position + 1) this.#moveTo(event.seq - 1, this.#position + 1);
    if (this.#isClosed) return;
    this.#position = event.seq;
    this.#call(this.#options.handler, event, event.seq);
  }

  /** Steps over an event that cannot be read. */
  skip(seq: number): void {
    if (seq > this.#position) this.#moveTo(seq, this.#position + 1);
  }

  #moveTo(position: number, from: number): void {
    const gap: Gap = { from, to: position };
    this.#position = position;
    const { onGap, log } = this.#options;
    if (onGap) this.#call(onGap, gap, position);
    else log.warn(gap, 'events were lost before a subscriber could read them');
  }

  /** Makes no function of its own: it is called for every event and every reader. */
  #call<V>(callback: (value: V) => unknown, value: V, seq: number): void {
    if (this.#isClosed) return;
    try {
      const result = callback(value);
      // An async function fits the handler's type too: its failure must not end the process.
      if (result instanceof Promise) result.catch((error: unknown) => this.#report(error, seq));
    } catch (error) {
      this.#report(error, seq);
    }
  }

  #report(error: unknown, seq: number): void {
    this.#options.log.error({ err: error, seq }, 'a bus subscriber failed');
  }
}
