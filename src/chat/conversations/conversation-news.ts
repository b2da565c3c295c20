import type { Bus } from '../../kit/bus/bus.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { ReplicaTopic } from '../replica-topic.ts';
import type { ConversationNews, Message } from './conversation.ts';

export type NewsListener = (news: ConversationNews) => void;

/** News on its way to other replicas. */
interface Told {
  /** Who told its own listeners already. */
  readonly replica: string;
  readonly news: ConversationNews;
  /** The message is too large for the bus: whoever hears of it reads it. */
  readonly messageId?: string;
}

export interface NewsOptions {
  readonly bus: Bus;
  readonly log: Log;
  /** For messages that no event of the bus can carry. */
  readonly readMessage: (id: string) => Promise<Message | undefined>;
}

interface Reader {
  readonly listener: NewsListener;
  readonly onMissed: (() => void) | undefined;
}

const topicName = 'chat.conversations';
/** Nobody reads old news: it goes to who is here. */
const retention = { retainCount: 1_000, retainSeconds: 60 };
/** In UTF-16 units, of which each takes at most six bytes of JSON. */
const carriedLengthMax = 64 * 1024;

/** Tells all listeners: those here at once, those of other replicas over the bus. */
export class NewsDesk implements AsyncDisposable {
  readonly #replica = newId('rpl');
  readonly #options: NewsOptions;
  readonly #topic: ReplicaTopic<Told>;
  readonly #readers = new Set<Reader>();

  constructor(options: NewsOptions) {
    const { bus, log } = options;
    this.#options = options;
    this.#topic = new ReplicaTopic<Told>({
      bus,
      log,
      replica: this.#replica,
      name: topicName,
      retention,
      what: 'news of conversations',
      onHeard: (told) => this.#hear(told),
      onMissed: () => {
        for (const { onMissed } of this.#readers) onMissed?.();
      },
    });
  }

  start(): Promise<void> {
    return this.#topic.open();
  }

  tell(news: ConversationNews): void {
    this.#tellHere(news);
    const { message, ...rest } = news;
    const replica = this.#replica;
    if (!message || sizeOf(message) <= carriedLengthMax) this.#topic.tell({ replica, news });
    else this.#topic.tell({ replica, news: rest, messageId: message.id });
  }

  listen(listener: NewsListener, onMissed?: () => void): () => void {
    const reader = { listener, onMissed };
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#topic[Symbol.asyncDispose]();
  }

  #hear({ news, messageId }: Told): void {
    if (this.#readers.size === 0) return;
    if (messageId === undefined) this.#tellHere(news);
    else void this.#tellWhenRead(news, messageId);
  }

  async #tellWhenRead(news: ConversationNews, messageId: string): Promise<void> {
    try {
      const message = await this.#options.readMessage(messageId);
      if (message) this.#tellHere({ ...news, message });
    } catch (error) {
      this.#options.log.warn({ err: error, messageId }, 'news of a message could not be told');
    }
  }

  #tellHere(news: ConversationNews): void {
    for (const { listener } of this.#readers) {
      try {
        listener(news);
      } catch (error) {
        this.#options.log.error({ err: error }, 'a listener of conversations failed');
      }
    }
  }
}

function sizeOf({ content, parts, toolCalls }: Message): number {
  const further = [parts, toolCalls].map((part) => (part ? JSON.stringify(part).length : 0));
  return content.length + further.reduce((sum, one) => sum + one, 0);
}
