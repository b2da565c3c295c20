import { LRUCache } from 'lru-cache';
import type { CacheQuestion } from './answer-cache.ts';
import { cacheKeyOf, type Scope } from './cache-key.ts';

interface Entry {
  readonly tenant: string;
  readonly face: string;
  readonly key: string;
}

const bytesMax = 8 * 1024 * 1024;
const textLengthMax = 64 * 1024;
/** Of an entry, besides its text. */
const overheadBytes = 300;

/**
 * The keys of texts that were found in the cache, each of the tenant who asked last: to ask for one
 * again takes no hash. A text has one reading, and with it one namespace.
 */
export class KeyBook {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: bytesMax,
    sizeCalculation: (_entry, text) => text.length * 2 + overheadBytes,
  });

  /** What `cacheKeyOf` says. */
  keyOf(scope: Scope, { text, body }: Pick<CacheQuestion, 'text' | 'body'>): string {
    const entry = text ? this.#entries.get(text) : undefined;
    const isSame = entry?.tenant === scope.tenant && entry.face === scope.face;
    return isSame ? entry.key : cacheKeyOf(scope, body);
  }

  /** Keeps the key of a text that was found, unless the text is too long. */
  keep({ tenant, face }: Scope, text: string | undefined, key: string): void {
    if (!text || text.length > textLengthMax) return;
    if (this.#entries.peek(text)?.key !== key) this.#entries.set(text, { tenant, face, key });
  }
}
