import type { Message } from '../conversations/conversation.ts';
import type { MessageBatches } from '../conversations/message-batches-store.ts';
import type { RequestBudget } from './request-budget.ts';

/** A part of a conversation's messages. */
export interface MessagePage {
  readonly limit: number;
  /** The place behind which it begins. */
  readonly after: number;
}

export interface LoaderOptions {
  readonly batches: MessageBatches;
  readonly ownerId: string;
  /** Of the request: what it reads is taken from there. */
  readonly budget: RequestBudget;
}

interface Wanted<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/** Reads the messages of one operation: what is asked for in one go comes by one statement. */
export class MessageLoader {
  readonly #batches: MessageBatches;
  readonly #ownerId: string;
  readonly #budget: RequestBudget;
  readonly #pages = new Map<string, Wanted<string, readonly Message[]>[]>();
  #ids: Wanted<readonly string[], readonly Message[]>[] = [];

  constructor({ batches, ownerId, budget }: LoaderOptions) {
    this.#batches = batches;
    this.#ownerId = ownerId;
    this.#budget = budget;
  }

  /** Part of a conversation's messages, in their order. */
  page(conversationId: string, { limit, after }: MessagePage): Promise<readonly Message[]> {
    const name = `${limit} ${after}`;
    return new Promise((resolve, reject) => {
      const wanted = { key: conversationId, resolve, reject };
      const group = this.#pages.get(name);
      if (group) {
        group.push(wanted);
        return;
      }
      this.#pages.set(name, [wanted]);
      queueMicrotask(() => void this.#readPages(name, { limit, after }));
    });
  }

  /** Messages by their ids, in that order; those that are gone are left out. */
  byIds(ids: readonly string[]): Promise<readonly Message[]> {
    return new Promise((resolve, reject) => {
      this.#ids.push({ key: ids, resolve, reject });
      if (this.#ids.length === 1) queueMicrotask(() => void this.#readIds());
    });
  }

  async #readPages(name: string, page: MessagePage): Promise<void> {
    const group = this.#pages.get(name) ?? [];
    this.#pages.delete(name);
    await settle(group, async () => {
      const ids = [...new Set(group.map(({ key }) => key))];
      const messages = await this.#budget.read((bytesLeft) =>
        this.#batches.ofConversations(this.#ownerId, { ids, ...page }, bytesLeft),
      );
      const byConversation = new Map<string, Message[]>(ids.map((id) => [id, []]));
      for (const message of messages) byConversation.get(message.conversationId)?.push(message);
      return (id) => byConversation.get(id) ?? [];
    });
  }

  async #readIds(): Promise<void> {
    const group = this.#ids;
    this.#ids = [];
    await settle(group, async () => {
      const ids = [...new Set(group.flatMap(({ key }) => key))];
      const messages = await this.#budget.read((bytesLeft) =>
        this.#batches.byIds(this.#ownerId, ids, bytesLeft),
      );
      const byId = new Map(messages.map((message) => [message.id, message]));
      return (wanted) => wanted.flatMap((id) => byId.get(id) ?? []);
    });
  }
}

/** Gives each what it asked for, or all of them why not. */
async function settle<Key, Value>(
  group: readonly Wanted<Key, Value>[],
  read: () => Promise<(key: Key) => Value>,
): Promise<void> {
  try {
    const find = await read();
    for (const { key, resolve } of group) resolve(find(key));
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
