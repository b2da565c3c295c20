import type { Bus } from '../../kit/bus/bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { toStorableText } from '../../kit/storable-json.ts';
import { NewsDesk, type NewsListener } from './conversation-news.ts';
import {
  deleteConversation,
  insertBranch,
  listConversations,
  readConversation,
  updateConversation,
} from './conversation-store.ts';
import type {
  Added,
  AppendOrder,
  Conversation,
  ConversationChange,
  ConversationRevision,
  Conversations,
  Message,
  NewMessage,
  Page,
} from './conversation.ts';
import {
  appendMessages,
  completeMessage,
  insertConversation,
  readMessage,
  readMessages,
  type MessageEnd,
} from './message-store.ts';
import { titleOf } from './title.ts';

export interface ConversationsOptions {
  readonly sql: Database;
  readonly bus: Bus;
  readonly log: Log;
  /** Ends what runs in a conversation that is about to go. */
  readonly stopTurn: (ownerId: string, conversationId: string) => Promise<void>;
}

const pageMax = 10_000;
const contentBytesMax = 1024 * 1024;

/** Conversations in SQL: what is asked is read there, so that all replicas say the same. */
export class StoredConversations implements Conversations, AsyncDisposable {
  readonly #options: ConversationsOptions;
  readonly #sql: Database;
  readonly #news: NewsDesk;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#sql = options.sql;
    this.#news = new NewsDesk({
      ...options,
      readMessage: (id) => readMessage(options.sql, id),
    });
  }

  /** Hears of other replicas from now on. */
  start(): Promise<void> {
    return this.#news.start();
  }

  async create(
    ownerId: string,
    { title, model, tools }: ConversationChange = {},
    messages: readonly NewMessage[] = [],
  ): Promise<Conversation> {
    requireSizes(messages);
    const added = await insertConversation(this.#sql, {
      id: newId('cnv'),
      ownerId,
      title: storedTitle(title) ?? titleFrom(messages) ?? '',
      model,
      tools,
      messages,
    });
    if (!added) throw new Error('the database gave no row of a new conversation');
    this.#tellCreated(added);
    return added.conversation;
  }

  async ensure(
    ownerId: string,
    id: string,
    { title, model, tools }: ConversationChange = {},
  ): Promise<boolean> {
    const order = { id, ownerId, title: storedTitle(title) ?? '', model, tools, messages: [] };
    const added = await insertConversation(this.#sql, order);
    if (added) this.#tellCreated(added);
    return added !== undefined;
  }

  async find(ownerId: string, id: string): Promise<Conversation> {
    const found = isId(id) ? await readConversation(this.#sql, ownerId, id) : undefined;
    return found ?? unknownConversation(id);
  }

  list(ownerId: string, page: Page) {
    return listConversations(this.#sql, ownerId, page);
  }

  async change(
    ownerId: string,
    id: string,
    { title, ...rest }: ConversationRevision,
  ): Promise<Conversation> {
    const edit = { id, ownerId, title: storedTitle(title), ...rest };
    const conversation = isId(id) ? await updateConversation(this.#sql, edit) : undefined;
    if (!conversation) return unknownConversation(id);
    this.#news.tell({ type: 'changed', ownerId, conversationId: id, conversation });
    return conversation;
  }

  async remove(ownerId: string, id: string): Promise<void> {
    if (!isId(id)) return unknownConversation(id);
    // Before, because what runs in a conversation that is gone finds nowhere to put its end.
    await this.#options.stopTurn(ownerId, id);
    if (!(await deleteConversation(this.#sql, ownerId, id))) return unknownConversation(id);
    this.#news.tell({ type: 'deleted', ownerId, conversationId: id });
  }

  async branch(
    ownerId: string,
    id: string,
    { messageId, title }: { readonly messageId: string; readonly title?: string },
  ): Promise<Conversation> {
    const order = { sourceId: id, ownerId, messageId, id: newId('cnv'), at: new Date() };
    const isKnowable = isId(id) && isId(messageId);
    const conversation = isKnowable
      ? await insertBranch(this.#sql, { ...order, title: storedTitle(title) })
      : undefined;
    if (!conversation) {
      await this.find(ownerId, id);
      throw unknownMessage(messageId);
    }
    this.#news.tell({ type: 'created', ownerId, conversationId: conversation.id, conversation });
    return conversation;
  }

  async messages(
    ownerId: string,
    id: string,
    { after = 0, limit = pageMax }: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly Message[]> {
    const where = { ownerId, conversationId: id };
    const page = { after, limit: Math.min(limit, pageMax) };
    const found = isId(id) ? await readMessages(this.#sql, where, page) : undefined;
    return found ?? unknownConversation(id);
  }

  append(
    ownerId: string,
    id: string,
    messages: readonly NewMessage[],
  ): Promise<readonly Message[]> {
    return this.appendWithin({ ownerId, conversationId: id, messages }, (order) =>
      appendMessages(this.#sql, order),
    );
  }

  async appendWithin(
    given: Omit<AppendOrder, 'title'>,
    store: (order: AppendOrder) => Promise<Added | undefined>,
  ): Promise<readonly Message[]> {
    const { conversationId: id, messages } = given;
    requireSizes(messages);
    const added = isId(id) ? await store({ ...given, title: titleFrom(messages) }) : undefined;
    if (!added) return unknownConversation(id);
    // What it was stored for goes on first: a user waits for that.
    setImmediate(() => this.#tellAdded(added));
    return added.messages;
  }

  async complete(messageId: string, end: MessageEnd): Promise<Message | undefined> {
    const ended = await completeMessage(this.#sql, messageId, end);
    if (!ended) return undefined;
    this.#tellAdded({ conversation: ended.conversation, messages: [ended.message] });
    return ended.message;
  }

  listen(listener: NewsListener, onMissed?: () => void): () => void {
    return this.#news.listen(listener, onMissed);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#news[Symbol.asyncDispose]();
  }

  #tellCreated(added: Added): void {
    const { conversation } = added;
    const { id: conversationId, ownerId } = conversation;
    this.#news.tell({ type: 'created', ownerId, conversationId, conversation });
    this.#tellAdded(added);
  }

  #tellAdded({ conversation, messages }: Added): void {
    const { id: conversationId, ownerId } = conversation;
    for (const message of messages) {
      this.#news.tell({ type: 'message', ownerId, conversationId, conversation, message });
    }
  }
}

const idPattern = /^[a-z]{3}_[\w-]{1,64}$/;

/** Whether a database can be asked for it at all. */
function isId(text: string): boolean {
  return idPattern.test(text);
}

function titleFrom(messages: readonly NewMessage[]): string | undefined {
  const first = messages.find(({ role }) => role === 'user');
  return first && storedTitle(titleOf(first.content));
}

function storedTitle(title: string | undefined): string | undefined {
  return title === undefined ? undefined : toStorableText(title.trim());
}

/** What a model or a tool says is bounded where it is read; this bounds what users send. */
function requireSizes(messages: readonly NewMessage[]): void {
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'system') continue;
    if (content.length * 3 <= contentBytesMax) continue;
    if (Buffer.byteLength(content) <= contentBytesMax) continue;
    throw new Fault('invalid', `a message may hold at most ${contentBytesMax} bytes`, {
      reason: 'message_too_large',
    });
  }
}

function unknownConversation(id: string): never {
  throw new Fault('not_found', 'there is no such conversation', {
    reason: 'conversation_not_found',
    detail: { conversation_id: id },
  });
}

function unknownMessage(id: string): Fault {
  return new Fault('not_found', 'there is no such message in the conversation', {
    reason: 'message_not_found',
    detail: { message_id: id },
  });
}
