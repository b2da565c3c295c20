import type { Cancellation } from '../../kit/cancellation.ts';
import type { Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AnswerCache, CachedAnswer, CacheQuestion, Fill, Lookup } from './answer-cache.ts';
import { entryBytesMax, hitOf, isFresh, type CacheEntry, type Eviction } from './cache-entry.ts';
import { shownKey, type Scope } from './cache-key.ts';
import type { CacheConfig } from './cache-settings.ts';
import type { CacheSql } from './cache-store.ts';
import { keepSecondsOf } from './cacheability.ts';
import { DatabaseLevel } from './database-level.ts';
import { Flight } from './flight.ts';
import { KeyBook } from './key-book.ts';
import { MemoryLevel, ownBytes } from './memory-level.ts';
import { SemanticCache, type Embed } from './semantic-cache.ts';
import { readSemanticQuestion, type SemanticQuestion } from './semantic-question.ts';

export interface CacheOptions {
  readonly sql: CacheSql;
  /** The topic `cacheTopic`. */
  readonly topic: Topic<Eviction>;
  readonly config: CacheConfig;
  readonly log: Log;
  /** Without it nothing is found that is not the same. */
  readonly embed?: Embed | undefined;
  /** Whether who gave an answer would still be asked; always when absent. */
  readonly isCurrent?: ((answer: CachedAnswer) => boolean) | undefined;
}

/** What health says of the cache in this replica. */
export interface CacheStats {
  /** 0..1 of the requests that could be cached, since the start. */
  readonly hitRate: number;
  /** `12.3 MB` of memory. */
  readonly size: string;
  readonly entries: number;
  /** Absent when only identical requests share an answer. */
  readonly semanticThreshold?: number;
}

/** What a request looks for, and who looks. */
interface Seek {
  readonly key: string;
  readonly scope: Scope;
  readonly ttlSeconds: number;
  /** How old an answer may be: only for requests that say so. */
  readonly ageSecondsMax: number | undefined;
  readonly cancellation: Cancellation;
  readonly semantic: SemanticQuestion | undefined;
  vector?: Float32Array | undefined;
}

type Hit = Extract<Lookup, { state: 'hit' }>;

const megabyte = 1024 * 1024;
const sweepMs = 5 * 60_000;

/** The answers of this replica in memory, over those that all replicas share in the database. */
export class Cache implements AnswerCache, AsyncDisposable {
  readonly #topic: Topic<Eviction>;
  readonly #config: CacheConfig;
  readonly #isCurrent: (answer: CachedAnswer) => boolean;
  readonly #memory: MemoryLevel;
  readonly #keys = new KeyBook();
  readonly #database: DatabaseLevel | undefined;
  readonly #semantic: SemanticCache | undefined;
  readonly #semanticStats: Pick<CacheStats, 'semanticThreshold'> = {};
  readonly #flights = new Map<string, Flight>();
  readonly #sweepTimer: NodeJS.Timeout;
  #close: () => Promise<void> = () => Promise.resolve();
  #evictions = 0;
  #hits = 0;
  #misses = 0;

  private constructor({ sql, topic, config, log, embed, isCurrent }: CacheOptions) {
    const { cacheMemoryMb, cacheDatabaseMb, semanticCacheThreshold: threshold } = config;
    this.#topic = topic;
    this.#config = config;
    this.#isCurrent = isCurrent ?? (() => true);
    this.#memory = new MemoryLevel(cacheMemoryMb * megabyte);
    if (cacheDatabaseMb > 0) {
      this.#database = new DatabaseLevel({ sql, log, maxBytes: cacheDatabaseMb * megabyte });
    }
    if (embed && threshold !== undefined) {
      this.#semantic = new SemanticCache({ threshold, embed, log });
      this.#semanticStats = { semanticThreshold: threshold };
    }
    this.#sweepTimer = setInterval(() => this.#memory.dropExpired(), sweepMs).unref();
  }

  /** Starts to follow what other replicas evict. */
  static async open(options: CacheOptions): Promise<Cache> {
    const cache = new Cache(options);
    const follow = ({ data }: { readonly data: Eviction }) => {
      cache.#forget(data);
      void cache.#database?.recall(data);
    };
    const onGap = () => cache.#forget({});
    const subscription = await options.topic.subscribe(follow, { onGap });
    cache.#close = () => subscription.close();
    return cache;
  }

  /**
   * At once for a hit in memory. Throws `invalid` for a `ttl` or `key` that cannot be; rejects with
   * the reason when it is cancelled while it waits.
   */
  lookup(question: CacheQuestion): Lookup | Promise<Lookup> {
    const ttlSeconds = keepSecondsOf(question, this.#config.cacheTtlSeconds);
    if (ttlSeconds === 0) return { state: 'off' };
    const { tenant, face, text, wish } = question;
    const scope = { tenant, face, namespace: wish.key ?? '' };
    const key = this.#keys.keyOf(scope, question);
    const entry = this.#memory.get(key);
    if (entry && this.#mayGive(entry, wish.ttl)) {
      this.#keys.keep(scope, text, key);
      this.#database?.touch(key);
      return this.#countHit(hitOf(entry));
    }
    const isSemantic = this.#semantic && wish.enabled === true;
    const semantic = isSemantic ? readSemanticQuestion(question, scope) : undefined;
    return this.#seek({
      key,
      scope,
      ttlSeconds,
      ageSecondsMax: wish.ttl,
      cancellation: question.cancellation,
      semantic,
    });
  }

  /** Drops entries here, in the database and in the other replicas; answers how many there were. */
  async evict(eviction: Eviction): Promise<number> {
    const inMemory = this.#forget(eviction);
    const inDatabase = (await this.#database?.evict(eviction)) ?? [];
    // Again, for what was read from the database before it was deleted there.
    this.#forget(eviction);
    await this.#topic.publish(eviction);
    return new Set([...inMemory, ...inDatabase]).size;
  }

  stats(): CacheStats {
    const asked = this.#hits + this.#misses;
    const { entries, bytes } = this.#memory.size;
    const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
    const hitRate = asked === 0 ? 0 : this.#hits / asked;
    return { hitRate, size, entries, ...this.#semanticStats };
  }

  /** All that is known of the cache, both levels measured now. */
  async measure() {
    const { hitRate } = this.stats();
    const { size, maxBytes } = this.#memory;
    const database = this.#database && {
      ...(await this.#database.measure()),
      maxBytes: this.#database.maxBytes,
    };
    return {
      hitRate,
      hits: this.#hits,
      misses: this.#misses,
      memory: { ...size, maxBytes },
      ...(database ? { database } : {}),
      ...this.#semanticStats,
    };
  }

  /** Resolves when all that was stored so far is in the database, or could not be written. */
  async flush(): Promise<void> {
    await this.#database?.flush();
  }

  /** Keeps the database's bounds now instead of within the minute. */
  async sweep(): Promise<void> {
    await this.#database?.sweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweepTimer);
    await this.#close();
    await this.#database?.[Symbol.asyncDispose]();
  }

  #mayGive(entry: CacheEntry, ageSecondsMax: number | undefined): boolean {
    return isFresh(entry, ageSecondsMax) && this.#isCurrent(entry);
  }

  /** Joins those who ask for the same, or asks first. */
  #seek(seek: Seek): Promise<Lookup> {
    const joined = this.#flights.get(seek.key);
    if (joined) return joined.join(seek.cancellation, () => this.#miss(joined, seek));
    const flight: Flight = new Flight(() => {
      // After all were sent to ask, another one may be under way.
      if (this.#flights.get(seek.key) === flight) this.#flights.delete(seek.key);
    });
    this.#flights.set(seek.key, flight);
    return this.#lead(flight, seek);
  }

  async #lead(flight: Flight, seek: Seek): Promise<Lookup> {
    let found: Hit | undefined;
    try {
      found = await this.#find(seek);
      if (!found) seek.cancellation.throwIfCancelled();
    } catch (error) {
      flight.handOver();
      throw Fault.from(error);
    }
    if (!found) return this.#miss(flight, seek);
    this.#hits += flight.land(found);
    return this.#countHit(found);
  }

  async #find(seek: Seek): Promise<Hit | undefined> {
    const entry = await this.#readThrough(seek.key);
    if (entry && this.#mayGive(entry, seek.ageSecondsMax)) return hitOf(entry);
    return this.#findAlike(seek);
  }

  async #findAlike(seek: Seek): Promise<Hit | undefined> {
    const { semantic: question, scope } = seek;
    if (!this.#semantic || !question) return undefined;
    seek.vector = await this.#semantic.embed(question);
    if (!seek.vector) return undefined;
    for (const { key, similarity } of this.#semantic.find(question, seek.vector)) {
      const entry = this.#memory.get(key) ?? (await this.#readThrough(key));
      if (!entry) this.#semantic.remove(question, key);
      else if (entry.tenant === scope.tenant && this.#mayGive(entry, seek.ageSecondsMax)) {
        return { ...hitOf(entry), similarity };
      }
    }
    return undefined;
  }

  /** Takes an entry of the database into memory, unless something was evicted meanwhile. */
  async #readThrough(key: string): Promise<CacheEntry | undefined> {
    const evictions = this.#evictions;
    const entry = await this.#database?.read(key);
    if (entry && isFresh(entry, undefined) && evictions === this.#evictions) {
      this.#memory.set(entry);
      this.#database?.touch(key);
    }
    return entry;
  }

  #miss(flight: Flight, seek: Seek): Lookup {
    this.#misses += 1;
    let isOpen = true;
    const finish = (work: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      work();
    };
    const fill: Fill = {
      store: (answer) =>
        finish(() => {
          this.#hits += flight.land(hitOf(this.#keep(seek, answer)));
        }),
      abandon: () => finish(() => flight.handOver()),
      decline: () => finish(() => flight.scatter()),
    };
    return { state: 'miss', key: shownKey(seek.key), fill };
  }

  #keep({ key, scope, ttlSeconds, semantic, vector }: Seek, answer: CachedAnswer): CacheEntry {
    const { tenant, namespace } = scope;
    const createdAtMs = Date.now();
    const expiresAtMs = createdAtMs + ttlSeconds * 1000;
    const body = ownBytes(answer.body);
    const entry = { ...answer, body, key, tenant, namespace, createdAtMs, expiresAtMs };
    if (body.length > entryBytesMax) return entry;
    this.#memory.set(entry);
    this.#database?.write(entry);
    if (semantic && vector) this.#semantic?.add(semantic, vector, key);
    return entry;
  }

  #countHit(hit: Hit): Hit {
    this.#hits += 1;
    return hit;
  }

  #forget(eviction: Eviction): string[] {
    this.#evictions += 1;
    return this.#memory.evict(eviction);
  }
}
