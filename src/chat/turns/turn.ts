import type { Caller } from '../caller.ts';
import type { ToolCall, Usage } from '../conversations/conversation.ts';

/** A message of a request, as OpenAI's API has it. */
export interface RequestMessage {
  readonly role: string;
  readonly content?: string | readonly unknown[] | null;
  readonly [field: string]: unknown;
}

export interface TurnRequest {
  readonly caller: Caller;
  /** Where it is stored; without it nothing but the turn itself is kept, for an hour. */
  readonly conversationId?: string;
  /** With a conversation only the last user's message is new, and its history is read from what is stored. */
  readonly messages: readonly RequestMessage[];
  /** The conversation's when absent, else the gateway's choice. */
  readonly model?: string;
  /** Further fields of the completion request, handed on to the gateway. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly traceparent?: string;
  /** The same request with the same key is one turn, for as long as that can be read. */
  readonly key?: string;
}

/**
 * `waiting`: a call of a tool needs its user's approval; what was written so far is stored, and nothing
 * runs. `stopped` by its user; `interrupted` when its process died.
 */
export type TurnStatus = 'running' | 'waiting' | 'completed' | 'stopped' | 'failed' | 'interrupted';

/** A question to a model and all that comes of it until an answer stands, with calls of tools in between. */
export interface Turn {
  /** `trn_…`, the completion's id. */
  readonly id: string;
  readonly ownerId: string;
  readonly status: TurnStatus;
  readonly conversationId?: string;
  /** The answer's message; new ids follow for each answer between calls of tools. */
  readonly messageId: string;
  /** What was asked for until the gateway has said which one answers. */
  readonly model: string;
  readonly createdAtMs: number;
  /** As it was begun: its request had come before, with the same key. */
  readonly isRepeated?: boolean;
  /** As it was read, while it waits: the calls that its user has not answered. */
  readonly openCallIds?: readonly string[];
}

/**
 * What happens in a turn. Each has its number in the turn, from 1, without gaps but before the end of one
 * whose process died; replayed deltas may be joined.
 */
export type TurnEvent = { readonly seq: number } & (
  | { readonly type: 'begun'; readonly messageId: string; readonly model: string }
  /** A piece of the answer, never what came before. `seq` is that of the last piece in it. */
  | { readonly type: 'delta'; readonly content: string }
  | { readonly type: 'reasoning'; readonly content: string }
  | {
      readonly type: 'tool-call';
      readonly call: ToolCall;
      readonly needsApproval: boolean;
      /** The tool is the caller's own: the turn ends, and another one brings the result. */
      readonly isCallers?: boolean;
      /** On the first call of an answer that the turn goes on behind: what that answer took. */
      readonly usage?: Usage;
    }
  | { readonly type: 'approval'; readonly callId: string; readonly isApproved: boolean }
  | {
      readonly type: 'tool-result';
      readonly callId: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
    }
  /** The last one of a turn that came to an end by itself or by its user. */
  | {
      readonly type: 'ended';
      readonly status: 'completed' | 'stopped';
      /** `stop`, `length`, `content_filter`; of a stopped one `stop`. */
      readonly finishReason: string;
      readonly messageId: string;
      readonly model: string;
      /** Of all its answers, as far as it is known. */
      readonly usage?: Usage;
      /** As in a failure. */
      readonly after?: number;
    }
  /**
   * The last one of a turn that failed, or whose process died: then `after` is the number of the last
   * event that is known of it, and what was told behind that is lost.
   */
  | {
      readonly type: 'failed';
      readonly code: string;
      readonly message: string;
      /** The kind of Fault it was, and when it may be tried again, in seconds. */
      readonly kind?: string;
      readonly retryAfter?: number;
      readonly after?: number;
    }
);

/** Told of each event as it happens, on every replica; tokens of other replicas may come joined. */
export type TurnListener = (turn: Turn, event: TurnEvent) => void;

export interface Turns {
  /**
   * Resolves once the user's message is stored, before the model has answered. Rejects with `not_found`
   * (`conversation_not_found`), `conflict` (`turn_in_progress`) when the conversation's last turn still
   * runs or waits, and with what the gateway refuses the request with.
   */
  begin(request: TurnRequest): Promise<Turn>;
  /** Its owner's turn; `not_found` (`turn_not_found`) otherwise, and an hour after its end. */
  find(ownerId: string, turnId: string): Promise<Turn>;
  /** Events behind `after`, then new ones until it has ended; also while it waits. From any replica. */
  follow(turn: Pick<Turn, 'id'>, after: number, signal: AbortSignal): AsyncIterable<TurnEvent>;
  /** Ends a turn, wherever it runs: what was written stays, as `stopped`. False when it had ended. */
  stop(
    ownerId: string,
    which: { readonly turnId: string } | { readonly conversationId: string },
  ): Promise<boolean>;
  /** Answers the calls that a waiting turn asks about; it goes on, here, when all are answered. */
  approve(
    caller: Caller,
    turnId: string,
    answers: readonly { readonly callId: string; readonly isApproved: boolean }[],
  ): Promise<Turn>;
  /** Told on every replica, or else that events of other replicas were lost; answers how to stop it. */
  listen(listener: TurnListener, onMissed?: () => void): () => void;
}
