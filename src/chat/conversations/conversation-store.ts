import type { Database } from '../../kit/database/database.ts';
import { conversationOf, type ConversationRow } from './conversation-row.ts';
import type { Conversation, Page, ToolRules } from './conversation.ts';

const columns = `c.id, c.owner_id, c.title, c.model, c.tools, c.branched_from_conversation,
  c.branched_from_message, c.message_count, c.total_tokens, c.cost, c.created_at, c.updated_at`;

/** Undefined where the owner has none of this id. */
export async function readConversation(
  sql: Database,
  ownerId: string,
  id: string,
): Promise<Conversation | undefined> {
  const [row] = await sql.query<ConversationRow>(
    `select ${columns} from chat.conversations c where c.id = $1 and c.owner_id = $2`,
    [id, ownerId],
  );
  return row && conversationOf(row);
}

interface ListedRow extends ConversationRow {
  readonly total: number;
}

/** Those that were used last first; the number of all, also behind the last page. */
export async function listConversations(
  sql: Database,
  ownerId: string,
  { limit, offset }: Page,
): Promise<{ readonly conversations: readonly Conversation[]; readonly total: number }> {
  const rows = await sql.query<ListedRow>(
    `select counted.total, ${columns}
     from (select count(*) as total from chat.conversations where owner_id = $1) counted
     left join lateral (
       select * from chat.conversations where owner_id = $1
       order by updated_at desc, id desc limit $2 offset $3
     ) c on true
     order by c.updated_at desc, c.id desc`,
    [ownerId, limit, offset],
  );
  const total = rows[0]?.total ?? 0;
  // One row without a conversation says the number alone.
  const found = rows.filter(({ id }) => (id as string | null) !== null);
  return { conversations: found.map(conversationOf), total };
}

/** What stays as it is, is absent. */
export interface ConversationEdit {
  readonly id: string;
  readonly ownerId: string;
  readonly title?: string | undefined;
  readonly model?: string | null | undefined;
  readonly tools?: ToolRules | undefined;
}

export async function updateConversation(
  sql: Database,
  { id, ownerId, title, model, tools }: ConversationEdit,
): Promise<Conversation | undefined> {
  const [row] = await sql.query<ConversationRow>(
    `update chat.conversations c set title = coalesce($3, title),
       model = case when $7 then null else coalesce($4, model) end,
       tools = coalesce($5, tools), updated_at = greatest(updated_at, $6)
     where id = $1 and owner_id = $2 returning ${columns}`,
    [id, ownerId, title, model, tools && JSON.stringify(tools), new Date(), model === null],
  );
  return row && conversationOf(row);
}

/** With all its messages; false where the owner has none of this id. */
export async function deleteConversation(
  sql: Database,
  ownerId: string,
  id: string,
): Promise<boolean> {
  const rows = await sql.query(
    'delete from chat.conversations where id = $1 and owner_id = $2 returning id',
    [id, ownerId],
  );
  return rows.length > 0;
}

export interface BranchOrder {
  readonly ownerId: string;
  /** The one that is copied. */
  readonly sourceId: string;
  /** The last message that is copied. */
  readonly messageId: string;
  readonly id: string;
  readonly title: string | undefined;
  readonly at: Date;
}

/**
 * Copies messages that have ended under new ids, without calls of tools whose results are not among
 * them; undefined where the owner has no such conversation, or no such message is in it.
 */
export async function insertBranch(
  sql: Database,
  { ownerId, sourceId, messageId, id, title, at }: BranchOrder,
): Promise<Conversation | undefined> {
  const [row] = await sql.query<ConversationRow>(
    `with source as (
       select c.*, cut.place as cut_place from chat.conversations c
       join chat.messages cut on cut.conversation_id = c.id and cut.id = $3
       where c.id = $2 and c.owner_id = $1
     ), heard as (
       select m.*, case when m.tool_calls is not null then (
           select json_agg(call)::text from json_array_elements(m.tool_calls::json) call
           where exists (
             select 1 from chat.messages result
             where result.conversation_id = m.conversation_id
               and result.place > m.place and result.place <= source.cut_place
               and result.tool_call_id = call->>'id'
           )
         ) end as answered_calls
       from source join chat.messages m on m.conversation_id = source.id
       where m.place <= source.cut_place and m.status <> 'pending'
     ), picked as (
       select *, row_number() over (order by place) as new_place from heard
       where tool_calls is null or answered_calls is not null or content <> ''
     ), counted as (
       select count(*), coalesce(sum((usage::json->>'totalTokens')::bigint), 0),
         coalesce(sum((usage::json->>'cost')::double precision), 0) from picked
     ), made as (
       insert into chat.conversations as c (id, owner_id, title, model, tools,
         branched_from_conversation, branched_from_message, message_count, total_tokens, cost,
         created_at, updated_at)
       select $4, owner_id, coalesce($5, title), model, tools, id, $3, counted.*, $6, $6
       from source, counted returning ${columns}
     ), copied as (
       insert into chat.messages (conversation_id, place, id, owner_id, role, content, parts, status,
         model, usage, tool_calls, tool_call_id, created_at, words)
       select $4, new_place,
         'msg_' || lpad(to_hex($7::bigint), 12, '0') || '7'
           || substr(replace(gen_random_uuid()::text, '-', ''), 14),
         owner_id, role, content, parts, status, model, usage, answered_calls, tool_call_id,
         created_at, coalesce(words, chat.all_words_of(content))
       from picked
     )
     select * from made`,
    [ownerId, sourceId, messageId, id, title, at, at.getTime()],
  );
  return row && conversationOf(row);
}
