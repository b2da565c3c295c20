import { toStorable, toStorableText } from '../../kit/storable-json.ts';
import {
  sumOfDollars,
  type Conversation,
  type Message,
  type NewMessage,
  type ToolCall,
  type ToolRules,
  type Usage,
} from './conversation.ts';

/** A row of `chat.conversations`. */
export interface ConversationRow {
  readonly id: string;
  readonly owner_id: string;
  readonly title: string;
  readonly model: string | null;
  readonly tools: string | null;
  readonly branched_from_conversation: string | null;
  readonly branched_from_message: string | null;
  readonly message_count: number;
  readonly total_tokens: number;
  readonly cost: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A row of `chat.messages`. */
export interface MessageRow {
  readonly id: string;
  readonly conversation_id: string;
  readonly place: number;
  readonly role: Message['role'];
  readonly content: string;
  readonly parts: string | null;
  readonly status: Message['status'];
  readonly turn_id: string | null;
  readonly model: string | null;
  readonly usage: string | null;
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  readonly created_at: Date;
}

/** The title of a conversation that nobody has named and that no message has named yet. */
const untitled = 'New conversation';

export function conversationOf(row: ConversationRow): Conversation {
  const { branched_from_conversation: branchedFrom, branched_from_message: messageId } = row;
  return {
    id: row.id,
    ownerId: row.owner_id,
    title: row.title === '' ? untitled : row.title,
    ...(row.model !== null && { model: row.model }),
    ...(row.tools !== null && { tools: JSON.parse(row.tools) as ToolRules }),
    ...(branchedFrom !== null &&
      messageId !== null && { branchedFrom: { conversationId: branchedFrom, messageId } }),
    messageCount: row.message_count,
    totalTokens: row.total_tokens,
    cost: sumOfDollars([row.cost]),
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  };
}

export function messageOf(row: MessageRow): Message {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    place: row.place,
    role: row.role,
    content: row.content,
    ...(row.parts !== null && { parts: JSON.parse(row.parts) as unknown[] }),
    status: row.status,
    createdAtMs: row.created_at.getTime(),
    ...(row.turn_id !== null && { turnId: row.turn_id }),
    ...(row.model !== null && { model: row.model }),
    ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage }),
    ...(row.tool_calls !== null && { toolCalls: JSON.parse(row.tool_calls) as ToolCall[] }),
    ...(row.tool_call_id !== null && { toolCallId: row.tool_call_id }),
  };
}

/** A message as it will read once it is stored, but for its place. */
export type PlacelessMessage = Omit<Message, 'place' | 'conversationId'>;

/** The same with every text as a database can store it. */
export function storableMessage(
  given: NewMessage,
  { id, createdAtMs }: Pick<Message, 'id' | 'createdAtMs'>,
): PlacelessMessage {
  const { parts, toolCalls, status = 'complete', ...rest } = given;
  return {
    ...rest,
    id,
    content: toStorableText(given.content),
    status,
    createdAtMs,
    ...(parts && { parts: storable(parts) }),
    ...(toolCalls && { toolCalls: storable(toolCalls) }),
  };
}

/** JSON for a column; null where there is nothing. */
export function columnOf(value: unknown): string | null {
  return value === undefined ? null : toStorable(JSON.stringify(value));
}

/** A message for `json_to_recordset`. */
export function recordOf(message: PlacelessMessage, ordinal: number) {
  return {
    ordinal,
    id: message.id,
    role: message.role,
    content: message.content,
    parts: columnOf(message.parts),
    status: message.status,
    turn_id: message.turnId ?? null,
    model: message.model ?? null,
    usage: columnOf(message.usage),
    tool_calls: columnOf(message.toolCalls),
    tool_call_id: message.toolCallId ?? null,
  };
}

function storable<T>(value: T): T {
  return JSON.parse(toStorable(JSON.stringify(value))) as T;
}
