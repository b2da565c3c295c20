import { LRUCache } from 'lru-cache';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import {
  embedTexts,
  type Embedding as Embedded,
  type EmbeddingsClient,
} from '../../kit/vectors/embed-texts.ts';
import { probeText } from './calibration-texts.ts';
import { listCalibrationTexts, Scores } from './calibration.ts';
import {
  findEmbedders,
  insertEmbedder,
  type KnownEmbedder,
  type SearchSql,
} from './embedders-store.ts';
import { quantise } from './owner-index.ts';

export interface EmbeddingOptions {
  readonly sql: SearchSql;
  readonly models: EmbeddingsClient;
  /** Of the models service; the one that comes with it when absent. */
  readonly model: string | undefined;
  readonly log: Log;
}

/** What embeds now. */
export interface CurrentEmbedder extends KnownEmbedder {
  readonly scores: Scores;
}

const queryTimeoutMs = 1_000;
const pauseMinMs = 500;
const pauseMaxMs = 60_000;
/** Two vectors of the probe text are of the same weights when they are at least so close. */
const samenessMin = 0.999;
const queriesMax = 1_000;
/** Passages that may well come again, by their number and length. */
const passagesMax = 2_000;
const keptLengthMax = 500;

/**
 * The embedder of the models service. While it does not answer, nothing is asked of it for a time that
 * doubles up to a minute.
 */
export class Embedding {
  /** Of messages and queries without vectors. */
  readonly textScores = new Scores();
  readonly #options: EmbeddingOptions;
  readonly #queries = new LRUCache<string, Int8Array>({ max: queriesMax });
  readonly #passages = new LRUCache<string, Int8Array>({ max: passagesMax });
  #current: CurrentEmbedder | undefined;
  #meeting: Promise<CurrentEmbedder | undefined> | undefined;
  #pauseMs = 0;
  #awayUntilMs = 0;

  constructor(options: EmbeddingOptions) {
    this.#options = options;
  }

  /** Milliseconds until it is worth asking again; 0 when it answered last. */
  get pauseMs(): number {
    return Math.max(0, this.#awayUntilMs - performance.now());
  }

  /**
   * The embedder, if it answers and was met before; with `mayMeet` a new one is calibrated and stored,
   * which one replica does at a time.
   */
  async current(mayMeet = false): Promise<CurrentEmbedder | undefined> {
    if (this.#current) return this.#current;
    if (this.pauseMs > 0) return undefined;
    this.#meeting ??= this.#meet(mayMeet).finally(() => {
      this.#meeting = undefined;
    });
    return this.#meeting;
  }

  /** A query's direction; undefined when the embedder does not answer within a second. */
  async embedQuery(text: string): Promise<Int8Array | undefined> {
    const known = this.#queries.get(text);
    if (known || this.pauseMs > 0) return known;
    try {
      const { vectors } = await this.embed([text], queryTimeoutMs);
      const direction = vectors[0] && quantise(vectors[0]);
      if (direction) this.#queries.set(text, direction);
      return direction;
    } catch {
      // The search goes on with words alone.
      return undefined;
    }
  }

  /** The directions of passages in their order; those that were met lately are not asked for again. */
  async embedPassages(texts: readonly string[]): Promise<readonly Int8Array[]> {
    const known = new Map<string, Int8Array>();
    for (const text of texts) {
      const passage = this.#passages.get(text);
      if (passage) known.set(text, passage);
    }
    const unknown = [...new Set(texts)].filter((text) => !known.has(text));
    if (unknown.length > 0) {
      const { vectors } = await this.embed(unknown);
      for (const [at, text] of unknown.entries()) {
        const direction = quantise(vectors[at] ?? new Float32Array());
        known.set(text, direction);
        if (text.length <= keptLengthMax) this.#passages.set(text, direction);
      }
    }
    return texts.map((text) => known.get(text) ?? new Int8Array());
  }

  /** Rejects with the Faults of `embedTexts`. */
  async embed(texts: readonly string[], timeoutMs?: number): Promise<Embedded> {
    const { models, model } = this.#options;
    try {
      const embedded = await embedTexts(models, { texts, model, timeoutMs });
      this.#pauseMs = 0;
      this.#awayUntilMs = 0;
      this.#checkWhether(embedded);
      return embedded;
    } catch (error) {
      this.#noteFailure(Fault.from(error));
      throw error;
    }
  }

  async #meet(mayMeet: boolean): Promise<CurrentEmbedder | undefined> {
    const found = await this.#find(mayMeet).catch(() => undefined);
    if (found) this.#current = { ...found, scores: new Scores(found.calibration) };
    return this.#current;
  }

  async #find(mayMeet: boolean): Promise<KnownEmbedder | undefined> {
    const { sql } = this.#options;
    const { vectors, model: name, dimensions } = await this.embed([probeText]);
    const [probe] = vectors;
    if (!probe) return undefined;
    const known = await findEmbedders(sql, { name, dimensions });
    const same = known.find((embedder) => isSame(embedder.probe, probe));
    if (same || !mayMeet) return same;
    const { vectors: examples } = await this.embed(listCalibrationTexts());
    const calibration = this.textScores.calibrate(examples);
    return insertEmbedder(sql, { name, dimensions, probe, calibration });
  }

  /** An answer of another embedder means that the models service has a new one. */
  #checkWhether({ model, dimensions }: Embedded): void {
    const current = this.#current;
    if (!current || (current.name === model && current.dimensions === dimensions)) return;
    this.#current = undefined;
    this.#queries.clear();
    this.#passages.clear();
    throw new Fault('unavailable', 'the embedder has changed');
  }

  #noteFailure({ code, message, retryAfter = 0 }: Fault): void {
    // A text that it refuses says nothing of the embedder.
    if (code === 'invalid' || code === 'cancelled') return;
    if (this.#pauseMs === 0) {
      this.#options.log.warn({ reason: message }, 'search goes on without the embedder');
    }
    this.#pauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, this.#pauseMs * 2));
    this.#awayUntilMs = performance.now() + Math.max(this.#pauseMs, retryAfter * 1_000);
  }
}

/** Both of length 1. */
function isSame(one: Float32Array, other: Float32Array): boolean {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0) > samenessMin;
}
