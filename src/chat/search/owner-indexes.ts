import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../kit/log.ts';
import type { KnownEmbedder, SearchSql } from './embedders-store.ts';
import { OwnerIndex } from './owner-index.ts';
import { readVectors, readVectorsOf } from './vectors-store.ts';

/** How long a search waits for vectors that are not in memory yet; then it takes those that are. */
const patienceMs = 500;
/** With more of it removed, an index is read anew. */
const wasteMax = 0.25;

/** What is known in memory of one owner. */
interface Entry {
  readonly ownerId: string;
  readonly index: OwnerIndex;
  readonly loading: Promise<void>;
  /** False until all that is stored is read, and for good when it is too much. */
  isWhole: boolean;
}

/**
 * The vectors of the owners who searched last, in bounded memory, all of one embedder. They are read
 * when they are first needed; what is embedded later, on whichever replica, is told by `add`. Of an
 * owner who has more than fits the latest messages are held.
 */
export class OwnerIndexes {
  readonly #sql: SearchSql;
  readonly #embedder: Pick<KnownEmbedder, 'id' | 'dimensions'>;
  readonly #bytesMax: number;
  readonly #log: Log;
  readonly #entries: LRUCache<string, Entry>;

  constructor(options: {
    readonly sql: SearchSql;
    readonly embedder: Pick<KnownEmbedder, 'id' | 'dimensions'>;
    readonly bytesMax: number;
    readonly log: Log;
  }) {
    this.#sql = options.sql;
    this.#embedder = options.embedder;
    this.#bytesMax = options.bytesMax;
    this.#log = options.log;
    this.#entries = new LRUCache({
      maxSize: options.bytesMax,
      sizeCalculation: ({ index }) => Math.min(options.bytesMax, index.bytes),
    });
  }

  /** The owner's index, and whether it holds all that is stored. */
  async open(ownerId: string): Promise<{ readonly index: OwnerIndex; readonly isWhole: boolean }> {
    const entry = this.#entries.get(ownerId) ?? this.#load(ownerId);
    if (!entry.isWhole)
      await Promise.race([entry.loading, setTimeout(patienceMs, undefined, { ref: false })]);
    return { index: entry.index, isWhole: entry.isWhole };
  }

  /** Takes in what was embedded since; nothing of owners who are not held. */
  async add(ownerId: string, messageIds: readonly string[]): Promise<void> {
    const entry = this.#entries.peek(ownerId);
    if (!entry) return;
    await entry.loading;
    const stored = await readVectorsOf(this.#sql, this.#embedder.id, messageIds);
    for (const vectors of stored) entry.index.add(vectors);
    this.#measure(entry);
  }

  /** Forgets a conversation that was deleted. */
  remove(ownerId: string, conversationId: string): void {
    const entry = this.#entries.peek(ownerId);
    entry?.index.remove(conversationId);
    if (entry && entry.index.waste > wasteMax) this.#entries.delete(ownerId);
  }

  clear(): void {
    this.#entries.clear();
  }

  #load(ownerId: string): Entry {
    const index = new OwnerIndex(this.#embedder.dimensions);
    const entry: Entry = {
      ownerId,
      index,
      isWhole: false,
      loading: Promise.resolve().then(() => this.#fill(entry)),
    };
    this.#entries.set(ownerId, entry);
    return entry;
  }

  async #fill(entry: Entry): Promise<void> {
    const { ownerId, index } = entry;
    try {
      const whose = { ownerId, embedderId: this.#embedder.id };
      for await (const portion of readVectors(this.#sql, whose)) {
        for (const vectors of portion) index.add(vectors);
        if (index.bytes > this.#bytesMax / 2) return;
      }
      entry.isWhole = true;
    } catch (error) {
      this.#log.warn({ err: error }, 'the vectors of an owner could not be read');
      this.#drop(entry);
    } finally {
      this.#measure(entry);
    }
  }

  /** What is set again as it is keeps the size that it had. */
  #measure(entry: Entry): void {
    if (this.#entries.peek(entry.ownerId) !== entry) return;
    this.#entries.delete(entry.ownerId);
    this.#entries.set(entry.ownerId, entry);
  }

  #drop(entry: Entry): void {
    if (this.#entries.peek(entry.ownerId) === entry) this.#entries.delete(entry.ownerId);
  }
}
