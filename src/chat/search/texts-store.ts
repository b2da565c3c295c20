import type { Role } from '../conversations/conversation.ts';
import type { SearchSql } from './embedders-store.ts';

/** A message as a hit shows it. */
export interface FoundMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly title: string;
  readonly role: Role;
  readonly content: string;
  readonly model: string | undefined;
  readonly createdAtMs: number;
}

interface FoundRow {
  readonly id: string;
  readonly conversation_id: string;
  readonly title: string;
  readonly role: Role;
  readonly content: string;
  readonly model: string | null;
  readonly created_at: Date;
}

const columns = 'm.id, m.conversation_id, c.title, m.role, m.model, m.created_at';
const beginningCharacters = 2_000;

/**
 * The first of an owner's messages, in the order of their ids, until their texts come to so many bytes;
 * at least one of those that are still there.
 */
export async function readTexts(
  sql: SearchSql,
  ownerId: string,
  { messageIds, bytes }: { readonly messageIds: readonly string[]; readonly bytes: number },
): Promise<FoundMessage[]> {
  // Sizes first, which are known without reading the texts.
  const rows = await sql.query<FoundRow>(
    `with sized as materialized (
       select m.id, w.place,
         sum(octet_length(m.content)) over (order by w.place) - octet_length(m.content) as before
       from unnest($1::text[]) with ordinality as w (id, place)
       join chat.messages m on m.id = w.id and m.owner_id = $2
     )
     select ${columns}, m.content from sized s
     join chat.messages m on m.id = s.id
     join chat.conversations c on c.id = m.conversation_id
     where s.before < $3::float8 order by s.place`,
    [messageIds, ownerId, bytes],
  );
  return rows.map(toFound);
}

/** Those of an owner's messages that are still there, with the beginnings of their texts. */
export async function readBeginnings(
  sql: SearchSql,
  ownerId: string,
  messageIds: readonly string[],
): Promise<FoundMessage[]> {
  const rows = await sql.query<FoundRow>(
    `select ${columns}, left(m.content, ${beginningCharacters}) as content
     from chat.messages m join chat.conversations c on c.id = m.conversation_id
     where m.id = any($1) and m.owner_id = $2`,
    [messageIds, ownerId],
  );
  return rows.map(toFound);
}

function toFound({ conversation_id, created_at, model, ...row }: FoundRow): FoundMessage {
  return {
    ...row,
    conversationId: conversation_id,
    model: model ?? undefined,
    createdAtMs: created_at.getTime(),
  };
}
