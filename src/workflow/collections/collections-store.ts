import type { Database } from '../../kit/database/database.ts';
import type { Collection, CountedCollection } from './collection.ts';

export type CollectionSql = Pick<Database, 'query'>;

interface CollectionRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly wanted_model: string | null;
  readonly model: string | null;
  readonly dimensions: number | null;
  readonly revision: number;
  readonly purged_revision: number;
  readonly owner_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

interface CountedRow extends CollectionRow {
  readonly documents: number;
  readonly chunks: number;
}

const counted = `c.*, d.documents, d.chunks from workflow.collections c
  cross join lateral (
    select count(*) as documents, coalesce(sum(chunk_count), 0)::bigint as chunks
    from workflow.collection_documents where collection_id = c.id and content is not null
  ) d`;

export interface NewCollection {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly wantedModel: string | undefined;
  readonly ownerId: string;
  readonly at: Date;
}

/** Says what stood in the way when nothing was stored: a collection of that name, or too many. */
export async function insertCollection(
  sql: CollectionSql,
  { id, name, description, wantedModel, ownerId, at }: NewCollection,
  countMax: number,
): Promise<'stored' | 'taken' | 'full'> {
  const [row] = await sql.query<{ stored: boolean; taken: boolean }>(
    `with stored as (
       insert into workflow.collections
         (id, name, description, wanted_model, owner_id, created_at, updated_at)
       select $1, $2, $3, $4, $5, $6::timestamptz, $6::timestamptz
       where (select count(*) from workflow.collections) < $7
       on conflict (name) do nothing returning 1
     )
     select exists(select from stored) as stored,
       exists(select from workflow.collections where name = $2) as taken`,
    [id, name, description, wantedModel ?? null, ownerId, at, countMax],
  );
  if (row?.stored) return 'stored';
  return row?.taken ? 'taken' : 'full';
}

export async function findCollection(
  sql: CollectionSql,
  name: string,
): Promise<Collection | undefined> {
  const [row] = await sql.query<CollectionRow>(
    'select * from workflow.collections where name = $1',
    [name],
  );
  return row && toCollection(row);
}

/** By id or by name. */
export async function readCollection(
  sql: CollectionSql,
  idOrName: string,
): Promise<CountedCollection | undefined> {
  const [row] = await sql.query<CountedRow>(
    `select ${counted} where c.id = $1 or c.name = $1 order by (c.id = $1) desc limit 1`,
    [idOrName],
  );
  return row && toCounted(row);
}

/** One page by name, and how many there are. */
export async function listCollections(
  sql: CollectionSql,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly collections: CountedCollection[]; readonly total: number }> {
  const [rows, [all]] = await Promise.all([
    sql.query<CountedRow>(`select ${counted} order by c.name limit $1 offset $2`, [limit, offset]),
    sql.query<{ total: number }>('select count(*) as total from workflow.collections'),
  ]);
  return { collections: rows.map(toCounted), total: all?.total ?? 0 };
}

/** With its documents; false when there was none. */
export async function deleteCollection(sql: CollectionSql, id: string): Promise<boolean> {
  const rows = await sql.query('delete from workflow.collections where id = $1 returning id', [id]);
  return rows.length > 0;
}

function toCollection(row: CollectionRow): Collection {
  const { model, dimensions } = row;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    wantedModel: row.wanted_model ?? undefined,
    embedding: model === null || dimensions === null ? undefined : { model, dimensions },
    revision: row.revision,
    purgedRevision: row.purged_revision,
    ownerId: row.owner_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toCounted(row: CountedRow): CountedCollection {
  return { ...toCollection(row), documents: row.documents, chunks: row.chunks };
}
