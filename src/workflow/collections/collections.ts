import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Span } from '../../kit/trace/trace.ts';
import { cutIntoChunks } from './chunking.ts';
import type {
  Collection,
  CountedCollection,
  Document,
  Hit,
  NewDocument,
  Search,
} from './collection.ts';
import {
  deleteCollection,
  findCollection,
  insertCollection,
  listCollections,
  readCollection,
  type CollectionSql,
} from './collections-store.ts';
import {
  deleteDocument,
  findByMetadata,
  listDocuments,
  readTexts,
  upsertDocuments,
  type EmbeddedDocument,
} from './documents-store.ts';
import { embedTexts, type EmbeddingsClient } from '../../kit/vectors/embed-texts.ts';
import { VectorIndexes } from './vector-indexes.ts';

export interface CollectionsOptions {
  readonly sql: CollectionSql;
  readonly models: EmbeddingsClient;
  /** For the vectors of the collections searched last; 256 MiB unless told. */
  readonly cacheBytesMax?: number;
  /** 1,000 unless told. */
  readonly countMax?: number;
}

/** Who changes collections. */
export interface Author {
  readonly subject: string;
  /** Changes those of others too. */
  readonly isAdministrator: boolean;
}

/** What a request brings along for the services that it causes to be asked. */
export interface Asking {
  readonly signal?: AbortSignal | undefined;
  readonly parent?: Span | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** The chats of the suite stand under this name. */
export const conversationsName = 'conversations';

const cacheBytesDefault = 256 * 1024 * 1024;
/** Chunks that one request may bring. */
const chunksMax = 8_000;
/** How long other replicas may take to hear of a deletion before they read everything anew. */
const deletionMarkMs = 3_600_000;

/** Collections of texts that are found by meaning. */
export class Collections {
  readonly #sql: CollectionSql;
  readonly #models: EmbeddingsClient;
  readonly #countMax: number;
  readonly #indexes: VectorIndexes;

  constructor({
    sql,
    models,
    cacheBytesMax = cacheBytesDefault,
    countMax = 1_000,
  }: CollectionsOptions) {
    this.#sql = sql;
    this.#models = models;
    this.#countMax = countMax;
    this.#indexes = new VectorIndexes(sql, cacheBytesMax);
  }

  /** Fault `conflict` (`collection_exists`, `name_reserved`), `exhausted` (`too_many_collections`). */
  async create(
    {
      name,
      description = '',
      model,
    }: {
      readonly name: string;
      readonly description?: string | undefined;
      readonly model?: string | undefined;
    },
    author: Author,
  ): Promise<CountedCollection> {
    if (name === conversationsName) {
      throw new Fault('conflict', `${name} are the chats`, { reason: 'name_reserved' });
    }
    const id = newId('col');
    const entry = { id, name, description, wantedModel: model, ownerId: author.subject };
    const outcome = await insertCollection(this.#sql, { ...entry, at: new Date() }, this.#countMax);
    if (outcome === 'taken') {
      throw new Fault('conflict', `there is a collection ${name}`, { reason: 'collection_exists' });
    }
    if (outcome === 'full') {
      throw new Fault('exhausted', `there are ${this.#countMax} collections already`, {
        reason: 'too_many_collections',
      });
    }
    return this.read(id);
  }

  list(page: Page): Promise<{ readonly collections: CountedCollection[]; readonly total: number }> {
    return listCollections(this.#sql, page);
  }

  /** By id or name; Fault `not_found` (`collection_not_found`). */
  async read(idOrName: string): Promise<CountedCollection> {
    return (await readCollection(this.#sql, idOrName)) ?? refuseUnknown(idOrName);
  }

  /** Fault `not_found`, `forbidden` (`not_owner`). */
  async delete(idOrName: string, author: Author): Promise<CountedCollection> {
    const collection = await this.read(idOrName);
    requireOwner(collection, author);
    await deleteCollection(this.#sql, collection.id);
    this.#indexes.forget(collection.id);
    return collection;
  }

  /**
   * Stores documents, each in the place of the one with its id; all or none, once all are embedded.
   * Answers their ids in the order given.
   */
  async upsert(
    name: string,
    {
      documents,
      author,
      ...asking
    }: Asking & {
      readonly documents: readonly NewDocument[];
      readonly author: Author;
    },
  ): Promise<{ readonly ids: readonly string[]; readonly chunks: number }> {
    const collection = await this.#find(name);
    requireOwner(collection, author);
    const pieces = cutAll(documents);
    const texts = pieces.flatMap(({ chunks }) => chunks);
    const model = modelOf(collection);
    const { vectors, ...embedding } = await embedTexts(this.#models, { texts, model, ...asking });
    const embedded = joinVectors(pieces, vectors);
    const upsert = { ...embedding, collectionId: collection.id, documents: embedded };
    const isStored = await upsertDocuments(this.#sql, { ...upsert, at: new Date() });
    if (!isStored) await this.#explainRefusal(name);
    return { ids: embedded.map(({ id }) => id), chunks: texts.length };
  }

  async deleteDocument(name: string, documentId: string, author: Author): Promise<void> {
    const { id: collectionId, ...collection } = await this.#find(name);
    requireOwner(collection, author);
    const at = new Date();
    const purgeBefore = new Date(at.getTime() - deletionMarkMs);
    const deletion = { collectionId, documentId, at, purgeBefore };
    if (await deleteDocument(this.#sql, deletion)) return;
    throw new Fault('not_found', `there is no document ${documentId}`, {
      reason: 'document_not_found',
    });
  }

  async documents(
    name: string,
    page: Page,
  ): Promise<{ readonly documents: Document[]; readonly total: number }> {
    const { id, documents: total } = await this.read(name);
    return { documents: await listDocuments(this.#sql, id, page), total };
  }

  /** The documents that are closest to what is asked, the closest first. */
  async search(
    name: string,
    { query, limit, minScore = -1, filter, ...asking }: Search & Asking,
  ): Promise<readonly Hit[]> {
    const { embedding, ...collection } = await this.#find(name);
    // Nothing was ever stored.
    if (!embedding) return [];
    const { model, dimensions } = embedding;
    const { vectors } = await embedTexts(this.#models, { texts: [query], model, ...asking });
    const [vector] = vectors;
    if (!vector || vector.length !== dimensions) throw modelChanged(name, model);
    const among = filter && (await findByMetadata(this.#sql, collection.id, filter));
    const candidates = await this.#indexes.search(
      { ...collection, dimensions },
      { vector, limit, minScore, among },
    );
    const texts = await readTexts(this.#sql, collection.id, candidates);
    return candidates.flatMap(({ documentId: id, score }) => {
      const text = texts.get(id);
      return text
        ? [{ id, content: text.content, score: rounded(score), metadata: text.metadata }]
        : [];
    });
  }

  async #find(name: string): Promise<Collection> {
    return (await findCollection(this.#sql, name)) ?? refuseUnknown(name);
  }

  async #explainRefusal(name: string): Promise<never> {
    const { embedding } = await this.#find(name);
    throw modelChanged(name, embedding?.model ?? '');
  }
}

interface Pieces extends Required<NewDocument> {
  readonly chunks: readonly string[];
}

function cutAll(documents: readonly NewDocument[]): readonly Pieces[] {
  const pieces = documents.map(({ id = newId('doc'), content, metadata = {} }) => ({
    id,
    content,
    metadata,
    chunks: cutIntoChunks(content),
  }));
  if (new Set(pieces.map(({ id }) => id)).size < pieces.length) {
    throw new Fault('invalid', 'two documents have the same id', { reason: 'duplicate_document' });
  }
  const count = pieces.reduce((sum, { chunks }) => sum + chunks.length, 0);
  if (count > chunksMax) {
    const message = `the documents have ${count} parts; one request may bring ${chunksMax}`;
    throw new Fault('too_large', message, { reason: 'too_many_chunks' });
  }
  return pieces;
}

function joinVectors(
  pieces: readonly Pieces[],
  vectors: readonly Float32Array[],
): readonly EmbeddedDocument[] {
  const left = vectors.values();
  const join = (content: string) => ({ content, vector: left.next().value ?? new Float32Array() });
  return pieces.map(({ chunks, ...document }) => ({ ...document, chunks: chunks.map(join) }));
}

/** A collection stays with the model of its first documents, whatever the default becomes. */
function modelOf({ embedding, wantedModel }: Collection): string | undefined {
  return embedding?.model ?? wantedModel;
}

function requireOwner(
  { ownerId, name }: Pick<Collection, 'ownerId' | 'name'>,
  { subject, isAdministrator }: Author,
): void {
  if (ownerId === subject || isAdministrator) return;
  throw new Fault('forbidden', `the collection ${name} belongs to somebody else`, {
    reason: 'not_owner',
  });
}

function refuseUnknown(name: string): never {
  throw new Fault('not_found', `there is no collection ${name}`, {
    reason: 'collection_not_found',
  });
}

function modelChanged(name: string, model: string): Fault {
  const message = `the collection ${name} holds vectors of ${model} as it was; store its documents in a new one`;
  return new Fault('conflict', message, { reason: 'embedding_model_changed' });
}

/** What is beyond six digits is noise of 32-bit floats. */
function rounded(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}
