import type { Database } from '../../kit/database/database.ts';
import { newId } from '../../kit/ids.ts';
import {
  columnOf,
  conversationOf,
  messageOf,
  recordOf,
  storableMessage,
  type ConversationRow,
  type MessageRow,
  type PlacelessMessage,
} from './conversation-row.ts';
import type {
  Added,
  AppendOrder,
  Conversation,
  Message,
  NewMessage,
  ToolRules,
} from './conversation.ts';

const conversationColumns = `id, owner_id, title, model, tools, branched_from_conversation,
  branched_from_message, message_count, total_tokens, cost, created_at, updated_at`;
const messageColumns = `m.id, m.conversation_id, m.place, m.role, m.content, m.parts, m.status,
  m.turn_id, m.model, m.usage, m.tool_calls, m.tool_call_id, m.created_at`;
const messageTargets = `conversation_id, place, id, owner_id, role, content, parts, status, turn_id,
  model, usage, tool_calls, tool_call_id, created_at, words`;
const recordTypes = `ordinal integer, id text, role text, content text, parts text, status text,
  turn_id text, model text, usage text, tool_calls text, tool_call_id text`;
const wordsOf = (content: string) => `chat.all_words_of(${content})`;
/** Of the answer of one reading of messages. */
const contentBytesMax = 16 * 1024 * 1024;

/** Undefined where the owner has no such conversation; others that append wait for the row. */
export async function appendMessages(
  sql: Database,
  order: AppendOrder,
): Promise<Added | undefined> {
  const parameters: unknown[] = [];
  const { text, addedOf } = appendPart(order, { parameters });
  const [row] = await sql.query<ConversationRow>(
    `with ${text} select ${conversationColumns} from held`,
    parameters,
  );
  return row && addedOf(row);
}

/** The part of a statement that adds messages; `held` has the conversation, if it was done. */
export interface AppendPart {
  readonly text: string;
  readonly addedOf: (held: ConversationRow) => Added;
}

/** Makes that part; the order's sizes are checked. */
export function appendPart(
  { ownerId, conversationId, title, messages: given }: AppendOrder,
  {
    parameters,
    condition = 'true',
    firstModel,
    makesWords = true,
  }: {
    /** Of the statement; those of the part are added to it. */
    readonly parameters: unknown[];
    /** What else must be true, as SQL. */
    readonly condition?: string;
    /** Kept by a conversation that has no message and no model yet. */
    readonly firstModel?: string | undefined;
    /** False leaves the words by which messages are found to the end of the next pending one. */
    readonly makesWords?: boolean;
  },
): AppendPart {
  const now = new Date();
  const messages = given.map((one) => prepared(one, now));
  const { tokens, cost } = totalOf(given);
  const bind = (value: unknown) => `$${parameters.push(value)}`;
  const [count, at] = [bind(messages.length), bind(now)];
  const records = JSON.stringify(messages.map((one, index) => recordOf(one, index + 1)));
  const text = `held as (
      update chat.conversations set message_count = message_count + ${count}::integer,
        total_tokens = total_tokens + ${bind(tokens)}::bigint,
        cost = cost + ${bind(cost)}::double precision,
        title = case when title = '' then coalesce(${bind(title)}, title) else title end,
        model = case when message_count = 0 then coalesce(model, ${bind(firstModel)}) else model end,
        updated_at = greatest(updated_at, ${at})
      where id = ${bind(conversationId)} and owner_id = ${bind(ownerId)} and ${condition} returning *
    ), added as (
      insert into chat.messages (${messageTargets})
      select held.id, held.message_count - ${count}::integer + one.ordinal, one.id, held.owner_id, role,
        content, parts, status, turn_id, one.model, usage, tool_calls, tool_call_id, ${at},
        ${makesWords ? wordsOf('content') : 'null'}
      from held, json_to_recordset(${bind(records)}::json) as one(${recordTypes})
    )`;
  return { text, addedOf: (held) => placed(conversationOf(held), messages) };
}

export interface CreateOrder {
  readonly id: string;
  readonly ownerId: string;
  readonly title: string;
  readonly model: string | undefined;
  readonly tools: ToolRules | undefined;
  readonly messages: readonly NewMessage[];
}

export async function insertConversation(
  sql: Database,
  { id, ownerId, title, model, tools, messages: given }: CreateOrder,
): Promise<Added | undefined> {
  const at = new Date();
  const messages = given.map((one) => prepared(one, at));
  const { tokens, cost } = totalOf(given);
  const rows = await sql.query<ConversationRow>(
    `with made as (
       insert into chat.conversations (id, owner_id, title, model, tools, message_count, total_tokens,
         cost, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) on conflict (id) do nothing returning *
     ), added as (
       insert into chat.messages (${messageTargets})
       select $1, one.ordinal, one.id, $2, role, content, parts, status, turn_id, one.model, usage,
         tool_calls, tool_call_id, $9, ${wordsOf('content')}
       from made, json_to_recordset($10::json) as one(${recordTypes})
     )
     select ${conversationColumns} from made`,
    [
      id,
      ownerId,
      title,
      model,
      columnOf(tools),
      messages.length,
      tokens,
      cost,
      at,
      JSON.stringify(messages.map((one, index) => recordOf(one, index + 1))),
    ],
  );
  const [row] = rows;
  return row && placed(conversationOf(row), messages);
}

export type MessageEnd = Pick<Message, 'content' | 'status'> &
  Partial<Pick<Message, 'model' | 'usage' | 'toolCalls'>>;

// The conversation is locked first, as all do that write to it.
const endStatement = `with held as (
     select id from chat.conversations
     where id = (select conversation_id from chat.messages where id = $1) for update
   ), ended as (
     update chat.messages m set content = $2, status = $3, model = coalesce($4, m.model),
       usage = $5, tool_calls = $6, words = ${wordsOf('$2')}
     from held where m.id = $1 and m.conversation_id = held.id and m.status = 'pending'
     returning m.*
   ), asked as (
     -- What was asked before it may have no words yet.
     update chat.messages q set words = ${wordsOf('q.content')} from ended
     where q.conversation_id = ended.conversation_id and q.place < ended.place and q.place > coalesce((
       select max(w.place) from chat.messages w where w.conversation_id = ended.conversation_id
         and w.place < ended.place and w.words is not null), 0)
   ), counted as (
     update chat.conversations c set total_tokens = total_tokens + $7::bigint,
       cost = cost + $8::double precision, updated_at = greatest(updated_at, $9)
     from ended where c.id = ended.conversation_id returning c.*
   )
   select counted.*, ended.place as message_place, ended.role as message_role,
     ended.parts as message_parts, ended.turn_id as message_turn, ended.model as message_model,
     ended.tool_call_id as message_call, ended.created_at as message_created_at
   from counted, ended`;

/** Ends a pending message, with the counts of its conversation; undefined when it was not pending. */
export async function completeMessage(
  sql: Database,
  messageId: string,
  end: MessageEnd,
): Promise<{ readonly conversation: Conversation; readonly message: Message } | undefined> {
  const { content, status, model, usage, toolCalls } = storableMessage(
    { role: 'assistant', ...end },
    { id: messageId, createdAtMs: 0 },
  );
  const [row] = await sql.query<EndedRow>(endStatement, [
    messageId,
    content,
    status,
    model,
    columnOf(usage),
    columnOf(toolCalls),
    usage?.totalTokens ?? 0,
    usage?.cost ?? 0,
    new Date(),
  ]);
  if (!row) return undefined;
  const message = messageOf({
    id: messageId,
    conversation_id: row.id,
    place: row.message_place,
    role: row.message_role,
    content,
    parts: row.message_parts,
    status,
    turn_id: row.message_turn,
    model: row.message_model,
    usage: columnOf(usage),
    tool_calls: columnOf(toolCalls),
    tool_call_id: row.message_call,
    created_at: row.message_created_at,
  });
  return { conversation: conversationOf(row), message };
}

/** The conversation, and of its message what the end does not say. */
interface EndedRow extends ConversationRow {
  readonly message_place: number;
  readonly message_role: Message['role'];
  readonly message_parts: string | null;
  readonly message_turn: string | null;
  readonly message_model: string | null;
  readonly message_call: string | null;
  readonly message_created_at: Date;
}

export interface MessagePage {
  /** The place behind which it begins. */
  readonly after: number;
  readonly limit: number;
}

/** In their order; fewer than the limit where they are large. Undefined where there is no such conversation. */
export async function readMessages(
  sql: Database,
  { ownerId, conversationId }: { readonly ownerId: string; readonly conversationId: string },
  { after, limit }: MessagePage,
): Promise<Message[] | undefined> {
  const rows = await sql.query<MessageRow>(
    `select ${messageColumns} from chat.conversations c
     left join lateral (
       select * from (
         select *, sum(octet_length(content)) over (order by place) as bytes
         from (
           select * from chat.messages where conversation_id = c.id and place > $3
           order by place limit $4
         ) page
       ) measured
       where bytes - octet_length(content) < $5
     ) m on true
     where c.id = $1 and c.owner_id = $2
     order by m.place`,
    [conversationId, ownerId, after, limit, contentBytesMax],
  );
  if (rows.length === 0) return undefined;
  // A conversation without messages in this page is one row of nulls.
  return rows.filter(({ id }) => (id as string | null) !== null).map(messageOf);
}

/** Whosever it is; undefined when it is gone. */
export async function readMessage(sql: Database, id: string): Promise<Message | undefined> {
  const [row] = await sql.query<MessageRow>(
    `select ${messageColumns} from chat.messages m where m.id = $1`,
    [id],
  );
  return row && messageOf(row);
}

function prepared(given: NewMessage, at: Date): PlacelessMessage {
  return storableMessage(given, { id: given.id ?? newId('msg'), createdAtMs: at.getTime() });
}

function totalOf(messages: readonly NewMessage[]) {
  let tokens = 0;
  let cost = 0;
  for (const { usage } of messages) {
    tokens += usage?.totalTokens ?? 0;
    cost += usage?.cost ?? 0;
  }
  return { tokens, cost };
}

/** The messages at the end of a conversation, where they have just been added. */
function placed(conversation: Conversation, messages: readonly PlacelessMessage[]): Added {
  const before = conversation.messageCount - messages.length;
  return {
    conversation,
    messages: messages.map((one, index) => ({
      ...one,
      conversationId: conversation.id,
      place: before + index + 1,
    })),
  };
}
