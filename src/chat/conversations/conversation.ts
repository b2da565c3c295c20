import type { Caller } from '../caller.ts';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/**
 * `pending`: its turn still runs. `stopped` by its user, `interrupted` by a failure: then the content is
 * what there was until then.
 */
export type MessageStatus = 'complete' | 'pending' | 'stopped' | 'interrupted';

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** US dollars. */
  readonly cost?: number;
}

/** What both took, where each may be unknown. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other;
  const costs = [one.cost, other.cost].flatMap((cost) => cost ?? []);
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    ...(costs.length === 0 ? {} : { cost: sumOfDollars(costs) }),
  };
}

/** US dollars, without the dust that binary fractions leave in sums: nothing is billed below a picodollar. */
export function sumOfDollars(dollars: readonly number[]): number {
  return Number(dollars.reduce((sum, one) => sum + one, 0).toFixed(12));
}

/** A call of a tool that a model asks for. */
export interface ToolCall {
  /** The model's own id of the call. */
  readonly id: string;
  /** As the model was told it. */
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

export interface Message {
  /** `msg_…` */
  readonly id: string;
  readonly conversationId: string;
  /** Its number in the conversation, from 1, without gaps. */
  readonly place: number;
  readonly role: Role;
  /** The text; of content in parts their texts. */
  readonly content: string;
  /** Content parts of OpenAI's API, where it is more than a text. */
  readonly parts?: readonly unknown[];
  readonly status: MessageStatus;
  readonly createdAtMs: number;
  readonly turnId?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly toolCalls?: readonly ToolCall[];
  /** Of a tool's result: the call that it answers. */
  readonly toolCallId?: string;
}

export type NewMessage = Pick<Message, 'role' | 'content'> &
  Partial<Pick<Message, 'id' | 'parts' | 'status' | 'turnId' | 'model' | 'usage'>> &
  Partial<Pick<Message, 'toolCalls' | 'toolCallId'>>;

/** Which tools a conversation's turns may use, and which of them need no approval though they write. */
export interface ToolRules {
  /** `connection__tool`, or `connection__*` for all of a connection. */
  readonly allow: readonly string[];
  /** `writes` (the default) asks before each call that may change something, `always` before each call. */
  readonly approval: 'writes' | 'always' | 'never';
}

export interface Conversation {
  /** `cnv_…` */
  readonly id: string;
  readonly ownerId: string;
  readonly title: string;
  /** What answers where a message names none. */
  readonly model?: string;
  readonly tools?: ToolRules;
  /** The message behind which it was branched off. */
  readonly branchedFrom?: { readonly conversationId: string; readonly messageId: string };
  readonly messageCount: number;
  /** Of all its answers. */
  readonly totalTokens: number;
  /** US dollars. */
  readonly cost: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type ConversationChange = Partial<Pick<Conversation, 'title' | 'model' | 'tools'>>;

/** Of one that is there: what stays as it is, is absent. */
export type ConversationRevision = Omit<ConversationChange, 'model'> & {
  /** Null: none any more. */
  readonly model?: string | null;
};

/** Messages on their way into a conversation. */
export interface AppendOrder {
  readonly ownerId: string;
  readonly conversationId: string;
  /** For a conversation that has no title yet. */
  readonly title: string | undefined;
  readonly messages: readonly NewMessage[];
}

/** The messages that were added last, and their conversation as it is then. */
export interface Added {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
}

/** What all tabs of its owner are told of a conversation. */
export interface ConversationNews {
  readonly type: 'created' | 'changed' | 'deleted' | 'message';
  readonly ownerId: string;
  readonly conversationId: string;
  /** As it is now; absent when it is deleted. */
  readonly conversation?: Conversation;
  /** Of `message`: what was added, or completed. */
  readonly message?: Message;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * The conversations of all users. Each call that names an owner rejects with `not_found`
 * (`conversation_not_found`) what belongs to another. What a call resolves with is stored.
 */
export interface Conversations {
  create(
    ownerId: string,
    change?: ConversationChange,
    messages?: readonly NewMessage[],
  ): Promise<Conversation>;
  /** Creates an empty one of this id, unless there is one; whether it did. */
  ensure(ownerId: string, id: string, change?: ConversationChange): Promise<boolean>;
  find(ownerId: string, id: string): Promise<Conversation>;
  /** The ones that were used last first, with the number of all. */
  list(
    ownerId: string,
    page: Page,
  ): Promise<{ readonly conversations: readonly Conversation[]; readonly total: number }>;
  change(ownerId: string, id: string, change: ConversationRevision): Promise<Conversation>;
  /** Deletes it with its messages; a turn of it that runs is stopped. */
  remove(ownerId: string, id: string): Promise<void>;
  /** A new one that holds copies of the messages up to and with this one. */
  branch(
    ownerId: string,
    id: string,
    options: { readonly messageId: string; readonly title?: string },
  ): Promise<Conversation>;
  /** In their order, behind the place `after`; fewer than asked for where they are large. */
  messages(
    ownerId: string,
    id: string,
    options?: { readonly after?: number; readonly limit?: number },
  ): Promise<readonly Message[]>;
  /** Adds messages in one statement, with the conversation's counts; the first user's message names it. */
  append(ownerId: string, id: string, messages: readonly NewMessage[]): Promise<readonly Message[]>;
  /**
   * The same where they are stored by a larger statement: `store` is it, begins what they are stored
   * for, of which their readers hear a little later, and answers undefined when there is no such conversation.
   */
  appendWithin(
    messages: Omit<AppendOrder, 'title'>,
    store: (order: AppendOrder) => Promise<Added | undefined>,
  ): Promise<readonly Message[]>;
  /** Fills in a pending message; undefined when it is gone or was not pending. */
  complete(
    messageId: string,
    end: Pick<Message, 'content' | 'status'> &
      Partial<Pick<Message, 'model' | 'usage' | 'toolCalls'>>,
  ): Promise<Message | undefined>;
  /**
   * Told on every replica, or else that news of other replicas were lost; answers how to stop it.
   */
  listen(listener: (news: ConversationNews) => void, onMissed?: () => void): () => void;
}

/** Whose conversations a caller sees. */
export function ownerOf({ identity }: Pick<Caller, 'identity'>): string {
  return identity.subject;
}
