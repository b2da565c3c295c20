import type { CachedAnswer, Lookup } from './answer-cache.ts';
import { shownKey } from './cache-key.ts';

/** An answer as the cache keeps it. */
export interface CacheEntry extends CachedAnswer {
  /** The whole key, 64 hex digits. */
  readonly key: string;
  readonly tenant: string;
  readonly namespace: string;
  /** Unix milliseconds, by the clock of the replica that kept it. */
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Which entries to drop. */
export interface Eviction {
  /** Absent: of anybody. */
  readonly tenant?: string | undefined;
  /** Absent: of every namespace. */
  readonly namespace?: string | undefined;
  /** A key as callers see it; absent: every key. */
  readonly key?: string | undefined;
}

/** Larger answers are not kept: they would push out hundreds of others. */
export const entryBytesMax = 1024 * 1024;

/** What an entry takes besides its body: its keys, names and places in lists. */
const overheadBytes = 600;

/** What an entry counts for in the bounds. */
export function bytesOf(entry: CacheEntry): number {
  return entry.body.length + overheadBytes;
}

export function isEvicted(entry: CacheEntry, { tenant, namespace, key }: Eviction): boolean {
  if (tenant !== undefined && entry.tenant !== tenant) return false;
  if (namespace !== undefined && entry.namespace !== namespace) return false;
  return key === undefined || entry.key.startsWith(key);
}

/** Whether an entry may still be given to somebody who wants it to be at most so old. */
export function isFresh(entry: CacheEntry, ageSecondsMax: number | undefined): boolean {
  const nowMs = Date.now();
  if (entry.expiresAtMs <= nowMs) return false;
  return ageSecondsMax === undefined || nowMs - entry.createdAtMs < ageSecondsMax * 1000;
}

/** The entry as what is said to a request. */
export function hitOf(entry: CacheEntry): Extract<Lookup, { state: 'hit' }> {
  const ageSeconds = Math.max(0, Math.floor((Date.now() - entry.createdAtMs) / 1000));
  return { state: 'hit', key: shownKey(entry.key), ageSeconds, answer: entry };
}
