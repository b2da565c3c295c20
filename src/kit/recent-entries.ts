import { LRUCache } from 'lru-cache';

/**
 * A map that keeps the entries used most recently, at most so many, each for `ttl` milliseconds where
 * told. Room is taken as entries come: lru-cache's `max` takes all of it at once.
 */
export function recentEntries<Value extends {}>(
  count: number,
  options: { readonly ttl?: number } = {},
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ ...options, maxSize: count, sizeCalculation: () => 1 });
}
