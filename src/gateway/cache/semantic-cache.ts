import { LRUCache } from 'lru-cache';
import type { Log } from '../../kit/log.ts';
import { mayAskTheSame } from './semantic-guard.ts';
import type { SemanticQuestion } from './semantic-question.ts';
import { endOrLate } from '../../kit/time/time-limits.ts';

/** Turns a text into a vector. */
export type Embed = (text: string) => Promise<Float32Array>;

export interface SemanticOptions {
  /** Cosine from which two questions count as the same. */
  readonly threshold: number;
  readonly embed: Embed;
  readonly log: Log;
}

/** A question that was answered before. */
export interface SemanticMatch {
  /** The whole key of the entry that answers it, if that is still there. */
  readonly key: string;
  readonly similarity: number;
}

interface Candidate {
  readonly key: string;
  readonly decisive: string;
  readonly words: readonly string[];
  /** Of length 1. */
  readonly vector: Float32Array;
}

const indexBytesMax = 32 * 1024 * 1024;
const candidatesMax = 64;
const overheadBytes = 400;
/** A short string and its place in the list. */
const wordBytes = 32;
const embedMaxMs = 2_000;

/**
 * Finds questions that ask the same in other words. It knows only keys: what was evicted or has
 * expired is found here and then not there. Lives in this replica's memory, bounded in bytes.
 */
export class SemanticCache {
  readonly #threshold: number;
  readonly #embed: Embed;
  readonly #log: Log;
  readonly #frames = new LRUCache<string, readonly Candidate[]>({
    maxSize: indexBytesMax,
    sizeCalculation: bytesOf,
  });

  constructor({ threshold, embed, log }: SemanticOptions) {
    this.#threshold = threshold;
    this.#embed = embed;
    this.#log = log;
  }

  /** The vector of a question; undefined when it could not be had in time. */
  async embed({ text }: SemanticQuestion): Promise<Float32Array | undefined> {
    try {
      const vector = await endOrLate(this.#embed(text), embedMaxMs);
      return vector && normalise(vector);
    } catch (error) {
      this.#log.warn({ err: error }, 'a question could not be embedded for the cache');
      return undefined;
    }
  }

  /** Questions like this one, the most alike first. */
  find({ frame, decisive, words }: SemanticQuestion, vector: Float32Array): SemanticMatch[] {
    const matches: SemanticMatch[] = [];
    for (const candidate of this.#frames.get(frame) ?? []) {
      if (candidate.decisive !== decisive) continue;
      // Rounded, because the length of a vector of floats is never quite 1.
      const similarity = Math.min(1, Number(dot(candidate.vector, vector).toFixed(6)));
      if (similarity < this.#threshold || !mayAskTheSame(candidate.words, words)) continue;
      matches.push({ key: candidate.key, similarity });
    }
    return matches.toSorted((one, other) => other.similarity - one.similarity);
  }

  /** Remembers that the entry of this key answers the question. */
  add({ frame, decisive, words }: SemanticQuestion, vector: Float32Array, key: string): void {
    const before = (this.#frames.get(frame) ?? []).filter((candidate) => candidate.key !== key);
    this.#frames.set(frame, [{ key, decisive, words, vector }, ...before].slice(0, candidatesMax));
  }

  /** Forgets that a question was answered. */
  remove({ frame }: SemanticQuestion, key: string): void {
    const left = (this.#frames.get(frame) ?? []).filter((candidate) => candidate.key !== key);
    if (left.length === 0) this.#frames.delete(frame);
    else this.#frames.set(frame, left);
  }
}

function bytesOf(candidates: readonly Candidate[]): number {
  return candidates.reduce(
    (sum, { vector, decisive, words }) =>
      sum + vector.byteLength + 2 * decisive.length + wordBytes * words.length + overheadBytes,
    overheadBytes,
  );
}

/** Undefined for a vector that has no direction. */
function normalise(vector: Float32Array): Float32Array | undefined {
  const length = Math.sqrt(dot(vector, vector));
  if (!Number.isFinite(length) || length === 0) return undefined;
  return vector.map((value) => value / length);
}

/** 0 for vectors of different models. */
function dot(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0;
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
