import type { SearchSql } from './embedders-store.ts';

/** A message's vectors as they are stored and searched: 8-bit numbers, passage behind passage. */
export interface MessageVectors {
  readonly messageId: string;
  readonly conversationId: string;
  readonly ownerId: string;
  readonly createdAtMs: number;
  readonly vectors: Int8Array;
}

/** What has to be embedded. */
export interface Unembedded {
  readonly messageId: string;
  readonly ownerId: string;
  /** The beginning of a very long one. */
  readonly content: string;
}

interface VectorsRow {
  readonly message_id: string;
  readonly conversation_id: string;
  readonly owner_id: string;
  readonly created_at: Date;
  readonly vectors: Buffer;
}

/** Messages in one statement; about 1 MB. */
const portionSize = 4_000;
const readCharacters = 50_000;

interface Whose {
  readonly ownerId: string;
  readonly embedderId: number;
}

/** All of an owner's vectors, portion by portion, those of the latest messages first. */
export async function* readVectors(
  sql: SearchSql,
  { ownerId, embedderId }: Whose,
): AsyncGenerator<readonly MessageVectors[]> {
  let before: string | undefined;
  for (;;) {
    const rows = await sql.query<VectorsRow>(
      `select message_id, conversation_id, owner_id, created_at, vectors from chat.message_vectors
       where owner_id = $1 and embedder_id = $2 and ($3::text is null or message_id < $3)
       order by message_id desc limit ${portionSize}`,
      [ownerId, embedderId, before],
    );
    yield rows.map(toVectors);
    const last = rows.at(-1);
    if (!last || rows.length < portionSize) return;
    before = last.message_id;
  }
}

/** Those of some messages; what is gone is left out. */
export async function readVectorsOf(
  sql: SearchSql,
  embedderId: number,
  messageIds: readonly string[],
): Promise<MessageVectors[]> {
  const rows = await sql.query<VectorsRow>(
    `select message_id, conversation_id, owner_id, created_at, vectors from chat.message_vectors
     where message_id = any($1) and embedder_id = $2 order by message_id`,
    [messageIds, embedderId],
  );
  return rows.map(toVectors);
}

/** Stores what messages that are still there have got; a message that has vectors keeps them. */
export async function insertVectors(
  sql: SearchSql,
  embedderId: number,
  entries: readonly Pick<MessageVectors, 'messageId' | 'vectors'>[],
): Promise<void> {
  await sql.query(
    `insert into chat.message_vectors
       (message_id, embedder_id, owner_id, conversation_id, created_at, vectors)
     select m.id, $1, m.owner_id, m.conversation_id, m.created_at, v.vectors
     from unnest($2::text[], $3::bytea[]) as v (id, vectors)
     join chat.messages m on m.id = v.id
     on conflict do nothing`,
    [
      embedderId,
      entries.map(({ messageId }) => messageId),
      entries.map(({ vectors }) => Buffer.from(vectors.buffer, vectors.byteOffset, vectors.length)),
    ],
  );
}

/** Of so many messages behind an id those that have no vectors, and the last id of them all. */
export async function readUnembedded(
  sql: SearchSql,
  embedderId: number,
  { after, count }: { readonly after: string; readonly count: number },
): Promise<{ readonly messages: readonly Unembedded[]; readonly last: string | undefined }> {
  const rows = await sql.query<UnembeddedRow & { readonly last: string }>(
    `with portion as (
       select id from chat.messages where id > $2 order by id limit $3
     ), missing as (
       select p.id from portion p
       left join chat.message_vectors v on v.message_id = p.id and v.embedder_id = $1
       where v.message_id is null
     )
     select m.id, m.owner_id, left(m.content, ${readCharacters}) as content,
       (select max(id) from portion) as last
     from (select 1) one
     left join (
       select m.* from missing join chat.messages m on m.id = missing.id
       where m.status <> 'pending' and m.content <> ''
     ) m on true`,
    [embedderId, after, count],
  );
  return { messages: toUnembedded(rows), last: rows[0]?.last ?? undefined };
}

/** Of some messages those that are complete and have no vectors. */
export async function readUnembeddedOf(
  sql: SearchSql,
  embedderId: number,
  messageIds: readonly string[],
): Promise<readonly Unembedded[]> {
  const rows = await sql.query<UnembeddedRow>(
    `select m.id, m.owner_id, left(m.content, ${readCharacters}) as content
     from chat.messages m
     left join chat.message_vectors v on v.message_id = m.id and v.embedder_id = $1
     where m.id = any($2) and v.message_id is null and m.status <> 'pending' and m.content <> ''`,
    [embedderId, messageIds],
  );
  return toUnembedded(rows);
}

interface UnembeddedRow {
  readonly id: string | null;
  readonly owner_id: string;
  readonly content: string;
}

function toUnembedded(rows: readonly UnembeddedRow[]): Unembedded[] {
  return rows.flatMap(({ id, owner_id, content }) =>
    id === null ? [] : [{ messageId: id, ownerId: owner_id, content }],
  );
}

function toVectors(row: VectorsRow): MessageVectors {
  const { vectors } = row;
  return {
    messageId: row.message_id,
    conversationId: row.conversation_id,
    ownerId: row.owner_id,
    createdAtMs: row.created_at.getTime(),
    vectors: new Int8Array(vectors.buffer, vectors.byteOffset, vectors.length),
  };
}
