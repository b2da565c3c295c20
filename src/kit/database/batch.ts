import { Fault } from '../errors.ts';

export interface BatchOptions<Item> {
  /** Writes the items, all or none; never called again before it has settled. */
  readonly flush: (items: Item[]) => Promise<void>;
  /** A batch this large is written at once. */
  readonly maxItems: number;
  /** How long the first item of a batch waits for company. */
  readonly maxDelayMs: number;
  /** How many items may be added and not yet written; more are refused. */
  readonly maxPending: number;
}

/** Collects single items into multi-row writes, for the number of statements is what costs. */
export interface Batch<Item> {
  /**
   * Resolves when the flush that holds the item has succeeded and rejects with its error; a Fault
   * `exhausted` when too many wait already, `unavailable` after `close`.
   */
  add(item: Item): Promise<void>;
  /** Writes what was added so far without delay; failures go to those who added. */
  flush(): Promise<void>;
  /** Refuses new items and writes the rest. */
  close(): Promise<void>;
}

/** Creates an empty batch; items are written in the order in which they were added. */
export function createBatch<Item>(options: BatchOptions<Item>): Batch<Item> {
  return new ChunkedBatch(options);
}

/** The items of one flush. */
class Chunk<Item> {
  readonly items: Item[] = [];
  readonly written: Promise<void>;
  isDue = false;
  timer: NodeJS.Timeout | undefined;
  succeed: () => void = () => {};
  fail: (error: unknown) => void = () => {};

  constructor() {
    this.written = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
  }
}

class ChunkedBatch<Item> implements Batch<Item> {
  readonly #options: BatchOptions<Item>;
  readonly #waiting: Chunk<Item>[] = [];
  #current: Chunk<Item> | undefined;
  #pendingCount = 0;
  #isWriting = false;
  #isClosed = false;

  constructor(options: BatchOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): Promise<void> {
    if (this.#isClosed) return refuse('unavailable', 'no more items are accepted');
    if (this.#pendingCount >= this.#options.maxPending) {
      return refuse('exhausted', 'too many items wait to be written');
    }
    this.#pendingCount += 1;
    const chunk = this.#openChunk();
    chunk.items.push(item);
    if (chunk.items.length >= this.#options.maxItems) this.#hasten(chunk);
    return chunk.written;
  }

  async flush(): Promise<void> {
    const chunks = this.#current ? [this.#current, ...this.#waiting] : [...this.#waiting];
    for (const chunk of chunks) this.#hasten(chunk);
    await Promise.allSettled(chunks.map(({ written }) => written));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }

  /** The last chunk takes items until it is full or its flush begins, also past its delay. */
  #openChunk(): Chunk<Item> {
    const last = this.#waiting.at(-1);
    if (last && last.items.length < this.#options.maxItems) return last;
    const chunk = new Chunk<Item>();
    chunk.timer = setTimeout(() => this.#hasten(chunk), this.#options.maxDelayMs);
    this.#waiting.push(chunk);
    return chunk;
  }

  #hasten(chunk: Chunk<Item>): void {
    clearTimeout(chunk.timer);
    chunk.isDue = true;
    if (!this.#isWriting) void this.#writeDue();
  }

  async #writeDue(): Promise<void> {
    this.#isWriting = true;
    for (let chunk = this.#takeDue(); chunk; chunk = this.#takeDue()) await this.#write(chunk);
    this.#isWriting = false;
  }

  #takeDue(): Chunk<Item> | undefined {
    return this.#waiting[0]?.isDue ? this.#waiting.shift() : undefined;
  }

  async #write(chunk: Chunk<Item>): Promise<void> {
    this.#current = chunk;
    try {
      await this.#options.flush(chunk.items);
      chunk.succeed();
    } catch (error) {
      chunk.fail(error);
    } finally {
      // Before anybody who awaited an item goes on and adds the next.
      this.#pendingCount -= chunk.items.length;
      this.#current = undefined;
    }
  }
}

function refuse(code: 'unavailable' | 'exhausted', message: string): Promise<never> {
  return Promise.reject(new Fault(code, message));
}
