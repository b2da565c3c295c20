import { LRUCache } from 'lru-cache';
import { bytesOf, isEvicted, type CacheEntry, type Eviction } from './cache-entry.ts';

/** The answers of this replica, bounded in bytes; the one used least recently goes first. */
export class MemoryLevel {
  readonly maxBytes: number;
  readonly #entries: LRUCache<string, CacheEntry>;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.calculatedSize };
  }

  /** Also an entry whose time is over, until another takes its place. */
  get(key: string): CacheEntry | undefined {
    return this.#entries.get(key);
  }

  set(entry: CacheEntry): void {
    this.#entries.set(entry.key, entry);
  }

  /** Drops what is meant and answers the keys. */
  evict(eviction: Eviction): string[] {
    const keys: string[] = [];
    for (const [key, entry] of this.#entries.entries()) {
      if (isEvicted(entry, eviction)) keys.push(key);
    }
    for (const key of keys) this.#entries.delete(key);
    return keys;
  }

  /** Drops what nobody can get any more, so that it does not count as kept. */
  dropExpired(nowMs = Date.now()): void {
    for (const [key, { expiresAtMs }] of this.#entries.entries()) {
      if (expiresAtMs <= nowMs) this.#entries.delete(key);
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}

/** The bytes alone, when they are a part of a larger buffer that they would keep alive. */
export function ownBytes(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
