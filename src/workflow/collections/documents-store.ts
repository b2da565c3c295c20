import type { Document, Metadata } from './collection.ts';
import type { CollectionSql } from './collections-store.ts';
import { toBytes } from '../../kit/vectors/embed-texts.ts';
import type { Candidate } from './vector-index.ts';

/** A document with its chunks embedded. */
export interface EmbeddedDocument {
  readonly id: string;
  readonly content: string;
  readonly metadata: Metadata;
  readonly chunks: readonly { readonly content: string; readonly vector: Float32Array }[];
}

export interface Upsert {
  readonly collectionId: string;
  readonly model: string;
  readonly dimensions: number;
  readonly documents: readonly EmbeddedDocument[];
  readonly at: Date;
}

/**
 * Stores all documents or none, each in the place of the one with its id. False when the collection
 * is gone, or holds vectors of another model.
 */
export async function upsertDocuments(sql: CollectionSql, upsert: Upsert): Promise<boolean> {
  const { collectionId, model, dimensions, documents, at } = upsert;
  const rows = await sql.query(
    `with collection as (
       update workflow.collections set revision = revision + 1, model = $2, dimensions = $3,
         updated_at = $4::timestamptz
       where id = $1 and (model is null or (model = $2 and dimensions = $3))
       returning id, revision
     ), given as (
       select d.* from json_to_recordset($5::json)
         as d (id text, content text, metadata jsonb, count integer)
     ), stored as (
       insert into workflow.collection_documents as d
         (collection_id, id, content, metadata, chunk_count, revision, created_at, updated_at)
       select c.id, g.id, g.content, g.metadata, g.count, c.revision, $4::timestamptz,
         $4::timestamptz
       from collection c cross join given g
       on conflict (collection_id, id) do update set content = excluded.content,
         metadata = excluded.metadata, chunk_count = excluded.chunk_count,
         revision = excluded.revision, updated_at = excluded.updated_at,
         created_at = case when d.content is null then excluded.created_at else d.created_at end
     ), surplus as (
       delete from workflow.collection_chunks k using collection c, given g
       where k.collection_id = c.id and k.document_id = g.id and k.ordinal >= g.count
     ), chunks as (
       insert into workflow.collection_chunks (collection_id, document_id, ordinal, content, vector)
       select c.id, k.document, k.ordinal, k.content, decode(k.vector, 'base64')
       from collection c cross join json_to_recordset($6::json)
         as k (document text, ordinal integer, content text, vector text)
       on conflict (collection_id, document_id, ordinal) do update
         set content = excluded.content, vector = excluded.vector
     )
     select revision from collection`,
    [collectionId, model, dimensions, at, documentRows(documents), chunkRows(documents)],
  );
  return rows.length > 0;
}

function documentRows(documents: readonly EmbeddedDocument[]): string {
  return JSON.stringify(
    documents.map(({ id, content, metadata, chunks }) => ({
      id,
      content,
      metadata,
      count: chunks.length,
    })),
  );
}

function chunkRows(documents: readonly EmbeddedDocument[]): string {
  return JSON.stringify(
    documents.flatMap(({ id, content, chunks }) =>
      chunks.map((chunk, ordinal) => ({
        document: id,
        ordinal,
        content: chunk.content === content ? null : chunk.content,
        vector: toBytes(chunk.vector).toString('base64'),
      })),
    ),
  );
}

export interface Deletion {
  readonly collectionId: string;
  readonly documentId: string;
  readonly at: Date;
  /** Marks of documents that were deleted before go for good. */
  readonly purgeBefore: Date;
}

/** False when there was no such document. */
export async function deleteDocument(sql: CollectionSql, deletion: Deletion): Promise<boolean> {
  const { collectionId, documentId, at, purgeBefore } = deletion;
  const rows = await sql.query(
    `with collection as (
       update workflow.collections c set revision = c.revision + 1, updated_at = $3::timestamptz,
         purged_revision = greatest(c.purged_revision, (
           select max(d.revision) from workflow.collection_documents d
           where d.collection_id = $1 and d.content is null and d.updated_at < $4::timestamptz
             and d.id <> $2
         ))
       where c.id = $1 and exists (
         select from workflow.collection_documents d
         where d.collection_id = $1 and d.id = $2 and d.content is not null
       )
       returning c.id, c.revision, c.purged_revision
     ), purged as (
       delete from workflow.collection_documents d using collection c
       where d.collection_id = c.id and d.content is null and d.revision <= c.purged_revision
         and d.id <> $2
     ), chunks as (
       delete from workflow.collection_chunks k using collection c
       where k.collection_id = c.id and k.document_id = $2
     )
     update workflow.collection_documents d set content = null, metadata = null, chunk_count = 0,
       revision = c.revision, updated_at = $3::timestamptz
     from collection c where d.collection_id = c.id and d.id = $2 returning d.id`,
    [collectionId, documentId, at, purgeBefore],
  );
  return rows.length > 0;
}

interface DocumentRow {
  readonly id: string;
  readonly content: string;
  readonly metadata: Metadata;
  readonly chunk_count: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** One page by id. */
export async function listDocuments(
  sql: CollectionSql,
  collectionId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Document[]> {
  const rows = await sql.query<DocumentRow>(
    `select id, content, metadata, chunk_count, created_at, updated_at
     from workflow.collection_documents where collection_id = $1 and content is not null
     order by id limit $2 offset $3`,
    [collectionId, limit, offset],
  );
  return rows.map(({ id, content, metadata, ...row }) => ({
    id,
    content,
    metadata,
    chunks: row.chunk_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** The documents whose metadata has these fields with these values. */
export async function findByMetadata(
  sql: CollectionSql,
  collectionId: string,
  filter: Metadata,
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `select id from workflow.collection_documents
     where collection_id = $1 and metadata @> $2::jsonb`,
    [collectionId, JSON.stringify(filter)],
  );
  return new Set(rows.map(({ id }) => id));
}

export interface FoundText {
  readonly document_id: string;
  readonly content: string;
  readonly metadata: Metadata;
}

/** The texts of chunks; those that were deleted meanwhile are missing. */
export async function readTexts(
  sql: CollectionSql,
  collectionId: string,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<string, FoundText>> {
  const rows = await sql.query<FoundText>(
    `select k.document_id, coalesce(k.content, d.content) as content, d.metadata
     from json_to_recordset($2::json) as wanted ("documentId" text, ordinal integer)
     join workflow.collection_chunks k on k.collection_id = $1
       and k.document_id = wanted."documentId" and k.ordinal = wanted.ordinal
     join workflow.collection_documents d on d.collection_id = $1 and d.id = k.document_id
     where k.ordinal < d.chunk_count`,
    [collectionId, JSON.stringify(candidates)],
  );
  return new Map(rows.map((row) => [row.document_id, row]));
}
