import type { CollectionSql } from './collections-store.ts';
import { fromBytes } from '../../kit/vectors/embed-texts.ts';
import type { StoredVector } from './vector-index.ts';

/** Chunks in one statement; about 2 MB. */
const pageSize = 2_000;
/** Revisions in one statement; one is a request's documents at most. */
const revisionStep = 4;

interface VectorRow {
  readonly document_id: string;
  readonly ordinal: number;
  readonly vector: Buffer;
}

export async function countChunks(sql: CollectionSql, collectionId: string): Promise<number> {
  const [row] = await sql.query<{ chunks: number }>(
    `select coalesce(sum(chunk_count), 0)::bigint as chunks
     from workflow.collection_documents where collection_id = $1`,
    [collectionId],
  );
  return row?.chunks ?? 0;
}

/** All vectors of a collection, page by page in the order of the documents. */
export async function* readVectors(
  sql: CollectionSql,
  collectionId: string,
): AsyncGenerator<readonly StoredVector[]> {
  let after: { readonly documentId: string; readonly ordinal: number } = {
    documentId: '',
    ordinal: -1,
  };
  for (;;) {
    const rows = await sql.query<VectorRow>(
      `select k.document_id, k.ordinal, k.vector from workflow.collection_chunks k
       join workflow.collection_documents d on d.collection_id = k.collection_id
         and d.id = k.document_id and k.ordinal < d.chunk_count
       where k.collection_id = $1 and (k.document_id, k.ordinal) > ($2, $3)
       order by k.document_id, k.ordinal limit ${pageSize}`,
      [collectionId, after.documentId, after.ordinal],
    );
    const vectors = rows.map(toVector);
    yield vectors;
    const last = vectors.at(-1);
    if (!last || vectors.length < pageSize) return;
    after = last;
  }
}

/** What changed in the documents of a collection. */
export interface Changes {
  /** Of documents that were stored anew or deleted. */
  readonly documentIds: readonly string[];
  readonly vectors: readonly StoredVector[];
}

interface ChangeRow {
  readonly id: string;
  readonly ordinal: number | null;
  readonly vector: Buffer | null;
}

/** What changed after one revision up to another, in the order in which it happened. */
export async function* readChanges(
  sql: CollectionSql,
  collectionId: string,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<Changes> {
  for (let after = from; after < to; after += revisionStep) {
    const rows = await sql.query<ChangeRow>(
      `select d.id, k.ordinal, k.vector from workflow.collection_documents d
       left join workflow.collection_chunks k on k.collection_id = d.collection_id
         and k.document_id = d.id and k.ordinal < d.chunk_count
       where d.collection_id = $1 and d.revision > $2 and d.revision <= $3
       order by d.revision, d.id, k.ordinal`,
      [collectionId, after, Math.min(after + revisionStep, to)],
    );
    const vectors = rows.flatMap(({ id, ordinal, vector }) =>
      ordinal === null || vector === null ? [] : [toVector({ document_id: id, ordinal, vector })],
    );
    yield { documentIds: [...new Set(rows.map(({ id }) => id))], vectors };
  }
}

function toVector({ document_id, ordinal, vector }: VectorRow): StoredVector {
  return { documentId: document_id, ordinal, vector: fromBytes(vector) };
}
