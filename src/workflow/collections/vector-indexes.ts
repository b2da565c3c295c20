import { LRUCache } from 'lru-cache';
import { Best } from '../../kit/vectors/best.ts';
import type { Collection } from './collection.ts';
import type { CollectionSql } from './collections-store.ts';
import { isBefore, VectorIndex, type Candidate, type Seeking } from './vector-index.ts';
import { countChunks, readChanges, readVectors } from './vectors-store.ts';

/** A collection that has vectors. */
export type VectorCollection = Pick<Collection, 'id' | 'revision' | 'purgedRevision'> & {
  readonly dimensions: number;
};

/** Behind by more than this, an index is read anew. */
const behindMax = 64;
/** With more of it removed, an index is read anew. */
const wasteMax = 0.25;

/**
 * The vectors of the collections that were searched last, in bounded memory. They are read when they
 * are first needed, and what changed since, on whichever replica, before each search. A collection
 * that is larger than the bound is read page by page for each search.
 */
export class VectorIndexes {
  readonly #sql: CollectionSql;
  readonly #bytesMax: number;
  readonly #indexes: LRUCache<string, VectorIndex>;
  readonly #fresh = new Map<string, Promise<VectorIndex | undefined>>();

  constructor(sql: CollectionSql, bytesMax: number) {
    this.#sql = sql;
    this.#bytesMax = bytesMax;
    this.#indexes = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ bytes }) => bytes });
  }

  /** The closest documents of a collection as it was when this began, or later. */
  async search(collection: VectorCollection, seeking: Seeking): Promise<Candidate[]> {
    const index = await this.#refreshed(collection);
    return index ? index.search(seeking) : this.#searchPages(collection, seeking);
  }

  forget(collectionId: string): void {
    this.#indexes.delete(collectionId);
  }

  /** One after the other for each collection; undefined when it is too large to be kept. */
  async #refreshed(collection: VectorCollection): Promise<VectorIndex | undefined> {
    const { id } = collection;
    const before = this.#fresh.get(id) ?? Promise.resolve(undefined);
    const refreshing = before.catch(() => undefined).then(() => this.#refresh(collection));
    this.#fresh.set(id, refreshing);
    try {
      return await refreshing;
    } finally {
      if (this.#fresh.get(id) === refreshing) this.#fresh.delete(id);
    }
  }

  async #refresh(collection: VectorCollection): Promise<VectorIndex | undefined> {
    const index = this.#indexes.get(collection.id);
    if (!index || isStale(index, collection)) return this.#load(collection);
    if (index.revision >= collection.revision) return index;
    const range = { from: index.revision, to: collection.revision };
    for await (const { documentIds, vectors } of readChanges(this.#sql, collection.id, range)) {
      for (const documentId of documentIds) index.remove(documentId);
      for (const vector of vectors) index.add(vector);
    }
    index.revision = collection.revision;
    // What is set again as it is keeps the size that it had.
    this.#indexes.delete(collection.id);
    this.#indexes.set(collection.id, index);
    return index;
  }

  async #load({ id, dimensions, revision }: VectorCollection): Promise<VectorIndex | undefined> {
    this.#indexes.delete(id);
    const capacity = Math.ceil((await countChunks(this.#sql, id)) * 1.05);
    if (capacity * rowBytes(dimensions) > this.#bytesMax) return undefined;
    return this.#fill(new VectorIndex({ dimensions, revision, capacity }), id);
  }

  async #fill(index: VectorIndex, id: string): Promise<VectorIndex> {
    for await (const vectors of readVectors(this.#sql, id)) {
      for (const vector of vectors) index.add(vector);
    }
    this.#indexes.set(id, index);
    return index;
  }

  async #searchPages(
    { id, dimensions, revision }: VectorCollection,
    seeking: Seeking,
  ): Promise<Candidate[]> {
    let best: readonly Candidate[] = [];
    for await (const vectors of readVectors(this.#sql, id)) {
      const page = new VectorIndex({ dimensions, revision, capacity: vectors.length });
      for (const vector of vectors) page.add(vector);
      best = bestOf([...best, ...(await page.search(seeking))], seeking.limit);
    }
    return [...best];
  }
}

function isStale(index: VectorIndex, { revision, purgedRevision, dimensions }: VectorCollection) {
  const isBehind = revision - index.revision > behindMax || index.revision < purgedRevision;
  return isBehind || index.waste > wasteMax || index.dimensions !== dimensions;
}

/** A vector, its document's number and its ordinal. */
function rowBytes(dimensions: number): number {
  return dimensions * 4 + 8;
}

/** A document whose chunks lie on two pages counts once. */
function bestOf(candidates: readonly Candidate[], limit: number): Candidate[] {
  const byDocument = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const known = byDocument.get(candidate.documentId);
    if (!known || known.score < candidate.score) byDocument.set(candidate.documentId, candidate);
  }
  const best = new Best<Candidate>(limit, isBefore);
  for (const candidate of byDocument.values()) best.offer(candidate);
  return best.sorted();
}
