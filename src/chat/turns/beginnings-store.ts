import type { ConversationRow } from '../conversations/conversation-row.ts';
import type { Added, AppendOrder, ToolRules } from '../conversations/conversation.ts';
import { appendPart } from '../conversations/message-store.ts';
import { historyMessagesMax } from './history.ts';
import type { KnownHistory } from './known-histories.ts';
import type { Turn } from './turn.ts';
import type { PastMessage, StoredRequest, TurnGround } from './turn-row.ts';
import { leaseSeconds, type TurnSql } from './turns-store.ts';

/** Of the messages that a model is told of, together: what the largest contexts hold. */
const historyBytesMax = 4 * 1024 * 1024;

// Places have no gaps, so that the newest are found without a sort.
const readPast = (conversation: string) => `
  select place, role, content, parts, status, tool_calls, tool_call_id from (
    select m.*, sum(octet_length(content) + coalesce(octet_length(parts), 0)
      + coalesce(octet_length(tool_calls), 0)) over (order by place desc) as bytes
    from chat.messages m where conversation_id = ${conversation} and (place = 1 and role = 'system' or place >
      (select message_count - ${historyMessagesMax} from chat.conversations where id = ${conversation}))
  ) newest where bytes <= ${historyBytesMax} or (place = 1 and role = 'system')`;

const asJson = (query: string) =>
  `(select coalesce(json_agg(past order by place), '[]'::json) from (${query}) past)`;

export interface NewTurn {
  readonly turn: Omit<Turn, 'model' | 'status'>;
  /** Absent: the conversation's, else `choice`. */
  readonly model: string | undefined;
  readonly choice: string;
  readonly request: StoredRequest;
  readonly replica: string;
  /** Where it is given, the turn begins only while the conversation's last message has this place. */
  readonly lastPlace: number | undefined;
  /** The history is not read again where this is all of it. */
  readonly known: KnownHistory | undefined;
}

/** What results of the caller's tools would be for; nulls where nothing was said yet. */
export interface LastWord {
  /** Of the conversation's last message. */
  readonly place: number;
  readonly status: string | null;
  /** JSON. */
  readonly tool_calls: string | null;
}

interface GroundRow {
  readonly model: string | null;
  readonly tools: string | null;
  readonly history: readonly PastMessage[];
}

/** A turn's beginning: what its conversation was before it, and what was added there. */
export interface Beginning {
  readonly ground: TurnGround;
  readonly added: Added;
}

/** With the conversation as it is now; nulls where nothing was begun. */
type BegunRow = ConversationRow & {
  readonly is_begun: boolean;
  readonly model_before: string | null;
  /** Null where something was known. */
  readonly history: readonly PastMessage[] | null;
};

/**
 * Begins a turn in its owner's conversation, adds its messages and reads what was there before, if that is not
 * known: all or nothing, by one statement, because users wait for it.
 */
export async function insertTurn(
  sql: TurnSql,
  { turn, model, choice, request, replica, lastPlace, known }: NewTurn,
  order: AppendOrder,
): Promise<Beginning | 'no conversation' | 'in progress'> {
  const parameters: unknown[] = [
    turn.id,
    order.conversationId,
    order.ownerId,
    turn.messageId,
    model,
    choice,
    JSON.stringify(request),
    replica,
    new Date(turn.createdAtMs),
    lastPlace ?? null,
  ];
  const { text, addedOf } = appendPart(order, {
    parameters,
    condition: 'exists (select from begun)',
    firstModel: model === choice ? undefined : model,
    makesWords: false,
  });
  const [row] = await sql.query<BegunRow>(
    `with conversation as (
       select id, model from chat.conversations where id = $2 and owner_id = $3
         and message_count = coalesce($10, message_count)
       -- Who deletes it waits, and deletes the turn too.
       for no key update
     ), begun as (
       insert into chat.turns (id, owner_id, conversation_id, message_id, status, model, request,
         replica, lease_until, created_at)
       select $1, $3, id, $4, 'running', coalesce($5, model, $6), $7, $8,
         now() + make_interval(secs => ${leaseSeconds}), $9::timestamptz from conversation
       -- Another turn goes on there, or this one was begun already.
       on conflict do nothing
       returning id
     ), ${text}
     select held.*, held.id is not null as is_begun, conversation.model as model_before,
       ${known ? 'null' : asJson(readPast('$2'))} as history
     from conversation left join held on true`,
    parameters,
  );
  // It was there with its last message: somebody else has added to it.
  if (!row) return lastPlace === undefined ? 'no conversation' : 'in progress';
  if (!row.is_begun) return 'in progress';
  const { model_before: modelBefore, tools } = row;
  const added = addedOf(row);
  const history = row.history ?? (await historyBefore(sql, added, known));
  return { ground: toGround({ model: modelBefore, tools, history }), added };
}

/** What was there before messages were added, read where others have said something since it was known. */
async function historyBefore(
  sql: TurnSql,
  { conversation: { id, createdAtMs, messageCount }, messages }: Added,
  known: KnownHistory | undefined,
): Promise<readonly PastMessage[]> {
  const countBefore = messageCount - messages.length;
  const isWhole = known?.createdAtMs === createdAtMs && known.messages.length === countBefore;
  if (isWhole) return known.messages;
  const ground = await readGround(sql, id);
  return ground?.history.filter(({ place }) => place <= countBefore) ?? [];
}

/** Begins a turn that belongs to no conversation; false when it was begun already. */
export async function insertLoneTurn(
  sql: TurnSql,
  { turn, model, choice, replica }: Omit<NewTurn, 'request' | 'lastPlace' | 'known'>,
): Promise<boolean> {
  const rows = await sql.query(
    `insert into chat.turns (id, owner_id, message_id, status, model, replica, lease_until, created_at)
     values ($1, $2, $3, 'running', $4, $5, now() + make_interval(secs => ${leaseSeconds}),
       $6::timestamptz)
     on conflict do nothing returning id`,
    [turn.id, turn.ownerId, turn.messageId, model ?? choice, replica, new Date(turn.createdAtMs)],
  );
  return rows.length > 0;
}

/**
 * The last question or answer, but for answers that never came or broke off: those are asked for again. Undefined
 * where the owner has no such conversation.
 */
export async function readLastWord(
  sql: TurnSql,
  { conversationId = '', ownerId }: Pick<Turn, 'conversationId' | 'ownerId'>,
): Promise<LastWord | undefined> {
  const [row] = await sql.query<LastWord>(
    `select c.message_count as place, last.status, last.tool_calls from chat.conversations c
     left join lateral (
       select status, tool_calls from chat.messages m
       where m.conversation_id = c.id and role <> 'tool'
         and (status not in ('interrupted', 'stopped') or tool_calls is not null)
       order by m.place desc limit 1
     ) last on true
     where c.id = $1 and c.owner_id = $2`,
    [conversationId, ownerId],
  );
  return row;
}

/** What a conversation brings to a turn that goes on. */
export async function readGround(
  sql: TurnSql,
  conversationId: string,
): Promise<TurnGround | undefined> {
  const [row] = await sql.query<GroundRow>(
    `select model, tools, ${asJson(readPast('$1'))} as history
     from chat.conversations where id = $1`,
    [conversationId],
  );
  return row && toGround(row);
}

function toGround({ model, tools, history }: GroundRow): TurnGround {
  return {
    model: model ?? undefined,
    tools: tools === null ? undefined : (JSON.parse(tools) as ToolRules),
    history,
  };
}
