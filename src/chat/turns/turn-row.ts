import type { Role, MessageStatus, ToolCall, ToolRules } from '../conversations/conversation.ts';
import type { Turn, TurnStatus } from './turn.ts';

/** A call of a tool in the latest round, and what became of it. */
export interface CallState {
  readonly call: ToolCall;
  /** `asked`: its user has to say; `begun`: it may have been made; `done`: its result is stored. */
  readonly phase: 'asked' | 'approved' | 'refused' | 'begun' | 'done';
}

/** What goes to the gateway beside the history, kept so that another replica can go on. */
export interface StoredRequest {
  /** Absent where the request names none: the conversation's then. */
  readonly model?: string | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** Messages with instructions, which hold for this turn only. */
  readonly instructions: readonly unknown[];
}

export interface StoredTurn {
  readonly turn: Turn;
  readonly request: StoredRequest;
  readonly calls: readonly CallState[];
  readonly version: number;
  readonly isStopping: boolean;
  readonly lastSeq: number;
}

export const turnColumns = `id, owner_id, conversation_id, message_id, status, model, request, calls,
  version, is_stopping, last_seq, created_at`;

export interface TurnRow {
  readonly id: string;
  readonly owner_id: string;
  readonly conversation_id: string | null;
  readonly message_id: string;
  readonly status: string;
  readonly model: string;
  readonly request: string | null;
  readonly calls: string | null;
  readonly version: number;
  readonly is_stopping: boolean;
  readonly last_seq: number;
  readonly created_at: Date;
}

export function toStoredTurn(row: TurnRow): StoredTurn {
  const { conversation_id: conversationId, request } = row;
  const calls = row.calls === null ? [] : (JSON.parse(row.calls) as CallState[]);
  return {
    turn: {
      id: row.id,
      ownerId: row.owner_id,
      // Written by this service alone.
      status: row.status as TurnStatus,
      ...(conversationId === null ? {} : { conversationId }),
      messageId: row.message_id,
      model: row.model,
      createdAtMs: row.created_at.getTime(),
      ...(row.status === 'waiting' ? { openCallIds: openCallIds(calls) } : {}),
    },
    request: request === null ? noRequest : (JSON.parse(request) as StoredRequest),
    calls,
    version: row.version,
    isStopping: row.is_stopping,
    lastSeq: row.last_seq,
  };
}

function openCallIds(calls: readonly CallState[]): readonly string[] {
  return calls.filter(({ phase }) => phase === 'asked').map(({ call }) => call.id);
}

const noRequest: StoredRequest = { options: {}, instructions: [] };

/** A message of the conversation as the model is told of it. */
export interface PastMessage {
  readonly place: number;
  readonly role: Role;
  readonly content: string;
  /** JSON. */
  readonly parts: string | null;
  readonly status: MessageStatus;
  /** JSON: a list of ToolCall. */
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
}

/** What a conversation says of its turns. */
export interface TurnGround {
  readonly model: string | undefined;
  readonly tools: ToolRules | undefined;
  /** The newest messages that fit, in their order, and a system's message at the very beginning. */
  readonly history: readonly PastMessage[];
}
