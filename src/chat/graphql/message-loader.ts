import type { Message } from '../conversations/conversation.ts';
import { Fault } from '../../kit/errors.ts';
import type { MessageBatches } from '../conversations/message-batches-store.ts';

/** A part of a conversation's messages. */
export interface MessagePage {
  readonly limit: number;
  /** The place behind which it begins. */
  readonly after: number;
}

interface Wanted<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

const rowsMax = 20_000;

/**
 * Reads the messages of one operation: what is asked for in one go comes by one statement. An operation
 * gets 20,000 rows; beyond them it is refused, so that a small query cannot cost a whole database.
 */
export class MessageLoader {
  readonly #batches: MessageBatches;
  readonly #ownerId: string;
  readonly #pages = new Map<string, Wanted<string, readonly Message[]>[]>();
  #ids: Wanted<readonly string[], readonly Message[]>[] = [];
  #rowsLeft = rowsMax;

  constructor(batches: MessageBatches, ownerId: string) {
    this.#batches = batches;
    this.#ownerId = ownerId;
  }

  /** Takes rows from what the operation may still read. */
  spend(rows: number): void {
    this.#rowsLeft -= rows;
    if (this.#rowsLeft >= 0) return;
    throw new Fault(
      'invalid',
      `one operation reads at most ${rowsMax} conversations and messages`,
      {
        reason: 'too_many_rows',
      },
    );
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
      const messages = await this.#batches.ofConversations(this.#ownerId, ids, page);
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
      const messages = await this.#batches.byIds(this.#ownerId, ids);
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
