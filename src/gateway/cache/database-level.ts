import type { Log } from '../../kit/log.ts';
import { bytesOf, isEvicted, type CacheEntry, type Eviction } from './cache-entry.ts';
import {
  deleteEntries,
  deleteExpiredEntries,
  measureEntries,
  readEntry,
  touchEntries,
  trimEntries,
  writeEntries,
  type CacheSql,
} from './cache-store.ts';
import { within } from '../../kit/time/time-limits.ts';

export interface DatabaseLevelOptions {
  readonly sql: CacheSql;
  readonly log: Log;
  readonly maxBytes: number;
}

const writeDelayMs = 50;
const batchEntriesMax = 200;
const batchBytesMax = 4 * 1024 * 1024;
/** What may wait to be written; more is not kept here. */
const pendingBytesMax = 16 * 1024 * 1024;
const touchedMax = 10_000;
/** A request does not wait longer for an answer that may not be there. */
const readMaxMs = 1_000;
const pauseMs = 5_000;
const sweepMs = 60_000;
const sweepsPerHour = 60;

/**
 * The answers that replicas share. Reading never fails: what cannot be read in a second is not
 * there, and the database is then left alone for some seconds. Writes go behind the answers and are
 * dropped when too many wait. The bound may be passed by an eighth for each replica.
 */
export class DatabaseLevel implements AsyncDisposable {
  readonly maxBytes: number;
  readonly #sql: CacheSql;
  readonly #log: Log;
  readonly #pending = new Map<string, CacheEntry>();
  readonly #touched = new Set<string>();
  readonly #sweepTimer: NodeJS.Timeout;
  /** What is being written. */
  #batch: readonly CacheEntry[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;
  #sweeps = 0;
  #writeTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #awayUntilMs = 0;

  constructor({ sql, log, maxBytes }: DatabaseLevelOptions) {
    this.#sql = sql;
    this.#log = log;
    this.maxBytes = maxBytes;
    this.#sweepTimer = setInterval(() => void this.sweep(), sweepMs).unref();
  }

  async read(key: string): Promise<CacheEntry | undefined> {
    const pending = this.#pending.get(key);
    if (pending || this.#awayUntilMs > Date.now()) return pending;
    try {
      return await within(readEntry(this.#sql, key), readMaxMs);
    } catch (error) {
      this.#pause(error);
      return undefined;
    }
  }

  /** Takes the entry along with the next write. */
  write(entry: CacheEntry): void {
    const before = this.#pending.get(entry.key);
    const bytes = this.#pendingBytes + bytesOf(entry) - (before ? bytesOf(before) : 0);
    if (bytes > pendingBytesMax) return;
    this.#pendingBytes = bytes;
    this.#pending.set(entry.key, entry);
    this.#writeTimer ??= setTimeout(() => void this.flush(), writeDelayMs).unref();
  }

  /** Remembers that an entry is in use, so that it is not taken for old. */
  touch(key: string): void {
    if (this.#touched.size < touchedMax) this.#touched.add(key);
  }

  /** Deletes what is meant, also what was yet to be written, and answers the keys. */
  async evict(eviction: Eviction): Promise<string[]> {
    const keys = this.#dropPending(eviction);
    await this.#writing;
    return [...keys, ...(await deleteEntries(this.#sql, eviction))];
  }

  /** Takes back what another replica evicted while it was on its way from here to the database. */
  async recall(eviction: Eviction): Promise<void> {
    this.#dropPending(eviction);
    if (!this.#batch.some((entry) => isEvicted(entry, eviction))) return;
    await this.#writing;
    try {
      await deleteEntries(this.#sql, eviction);
    } catch (error) {
      this.#pause(error);
    }
  }

  /** Writes what waits; resolves also when that failed, for the cache is not the place to complain. */
  flush(): Promise<void> {
    clearTimeout(this.#writeTimer);
    this.#writeTimer = undefined;
    this.#writing = this.#writing.then(() => this.#writeAll());
    return this.#writing;
  }

  measure(): Promise<{ entries: number; bytes: number }> {
    return measureEntries(this.#sql);
  }

  /** Keeps the bounds of size and time; resolves also when that failed. */
  async sweep(): Promise<void> {
    try {
      const isHourly = this.#sweeps % sweepsPerHour === 0;
      this.#sweeps += 1;
      await this.#flushTouched();
      if (isHourly) await deleteExpiredEntries(this.#sql);
      if (isHourly || this.#writtenBytes > this.maxBytes / 8) await this.#trim();
    } catch (error) {
      this.#log.warn({ err: error }, 'the cache in the database could not be tidied');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweepTimer);
    await this.flush();
  }

  async #trim(): Promise<void> {
    this.#writtenBytes = 0;
    await trimEntries(this.#sql, this.maxBytes);
  }

  async #flushTouched(): Promise<void> {
    if (this.#touched.size === 0) return;
    const keys = [...this.#touched];
    this.#touched.clear();
    await touchEntries(this.#sql, keys);
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#pending.size > 0) {
        this.#batch = this.#takeBatch();
        await writeEntries(this.#sql, this.#batch);
        if (this.#writtenBytes > this.maxBytes / 8) await this.#trim();
      }
    } catch (error) {
      this.#pause(error);
    } finally {
      this.#batch = [];
    }
  }

  #takeBatch(): CacheEntry[] {
    const entries: CacheEntry[] = [];
    let bytes = 0;
    for (const entry of this.#pending.values()) {
      if (entries.length >= batchEntriesMax || bytes > batchBytesMax) break;
      entries.push(entry);
      bytes += bytesOf(entry);
    }
    for (const { key } of entries) this.#drop(key);
    this.#writtenBytes += bytes;
    return entries;
  }

  #dropPending(eviction: Eviction): string[] {
    const keys: string[] = [];
    for (const entry of this.#pending.values()) {
      if (isEvicted(entry, eviction)) keys.push(entry.key);
    }
    for (const key of keys) this.#drop(key);
    return keys;
  }

  #drop(key: string): void {
    const entry = this.#pending.get(key);
    if (!entry) return;
    this.#pending.delete(key);
    this.#pendingBytes -= bytesOf(entry);
  }

  #pause(error: unknown): void {
    if (this.#awayUntilMs <= Date.now()) {
      this.#log.warn({ err: error }, 'the cache goes on without the database');
    }
    this.#awayUntilMs = Date.now() + pauseMs;
  }
}
