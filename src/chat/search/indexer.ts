import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { ConversationNews, Conversations } from '../conversations/conversation.ts';
import { dropLease, markIndexed, takeLease } from './embedders-store.ts';
import type { CurrentEmbedder, Embedding } from './embedding.ts';
import type { Embeddeds } from './messages-search.ts';
import { cutIntoPassages } from './passages.ts';
import {
  insertVectors,
  readUnembedded,
  readUnembeddedOf,
  type MessageVectors,
  type Unembedded,
} from './vectors-store.ts';

export interface IndexerOptions {
  readonly database: Pick<Database, 'query' | 'dialect'>;
  readonly embedding: Embedding;
  readonly conversations: Pick<Conversations, 'listen'>;
  /** Tells all replicas. */
  readonly tell: (news: Embeddeds) => void;
  readonly log: Log;
}

const leaseName = 'indexer';
const leaseMs = 15_000;
/** How long new messages wait for company. */
const gatherMs = 150;
/** Messages of one step. */
const freshMax = 64;
const portionMax = 1_000;
/** New messages that are remembered; more are found again in the table. */
const rememberedMax = 5_000;
/** How often the table is looked through for what was missed. */
const sweepMs = 600_000;
/** How old a message may be that can still be missed: turns may wait so long for an approval. */
const lateMs = 24 * 3_600_000;
const batchMax = 64;
/** Milliseconds that a request of the embedder should take at most, so that others get their turn. */
const requestGoalMs = 1_000;

/**
 * Gives messages their vectors, in the background, on one replica at a time: new ones as they are
 * told, and all that have none, in the order of their ids.
 */
export class Indexer implements AsyncDisposable {
  readonly #options: IndexerOptions;
  readonly #replica = newId('rep');
  readonly #fresh = new Set<string>();
  readonly #stopListening: () => void;
  #batchSize = 16;
  #embedderId: number | undefined;
  /** Where the sweep is; undefined while none is under way. */
  #sweepAt: string | undefined;
  #nextSweepMs = 0;
  #heldUntilMs = 0;
  #isStopped = false;
  #wake: () => void = () => {};
  readonly #running: Promise<void>;

  constructor(options: IndexerOptions) {
    this.#options = options;
    this.#stopListening = options.conversations.listen((news) => this.#hear(news));
    this.#running = this.#run();
  }

  /** Resolves when the step under way has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    this.#wake();
    await this.#running;
    await this.#release();
  }

  #hear({ type, message, conversation }: ConversationNews): void {
    // Copies of messages are not told one by one.
    if (type === 'created' && conversation?.branchedFrom) {
      this.#nextSweepMs = 0;
      setTimeout(() => this.#wake(), gatherMs).unref();
    }
    if (type !== 'message' || !message || message.status === 'pending') return;
    // What is forgotten here is found by the next sweep, which then comes at once.
    if (this.#fresh.size < rememberedMax) this.#fresh.add(message.id);
    else this.#nextSweepMs = 0;
    if (this.#fresh.size === 1) setTimeout(() => this.#wake(), gatherMs).unref();
  }

  async #run(): Promise<void> {
    // What starts the service shall not wait for this.
    await this.#sleep(0);
    while (!this.#isStopped) await this.#sleep(await this.#step());
  }

  /** Answers how many milliseconds nothing is to be done. */
  async #step(): Promise<number> {
    try {
      if (!(await this.#hold())) return leaseMs / 3;
      const embedder = await this.#options.embedding.current(true);
      if (!embedder) return await this.#giveUp();
      this.#beginSweep(embedder);
      if (this.#fresh.size > 0) return await this.#indexFresh(embedder);
      if (this.#sweepAt !== undefined) return await this.#sweep(embedder, this.#sweepAt);
      return this.#idleMs();
    } catch (error) {
      const { code, message } = Fault.from(error);
      if (code === 'internal') this.#options.log.error({ err: error }, 'indexing failed');
      else this.#options.log.debug({ reason: message }, 'indexing waits');
      return Math.max(1_000, await this.#giveUp());
    }
  }

  /** Another replica may reach the embedder. */
  async #giveUp(): Promise<number> {
    await this.#release();
    return Math.max(100, this.#options.embedding.pauseMs);
  }

  async #release(): Promise<void> {
    const { database } = this.#options;
    if (this.#heldUntilMs === 0) return;
    this.#heldUntilMs = 0;
    await dropLease(database, leaseName, this.#replica).catch(() => undefined);
  }

  /** On PGlite this process is always alone. */
  async #hold(): Promise<boolean> {
    const { database } = this.#options;
    const nowMs = performance.now();
    if (database.dialect === 'pglite' || nowMs < this.#heldUntilMs - leaseMs / 2) return true;
    const lease = { name: leaseName, holder: this.#replica, lengthMs: leaseMs };
    const isHeld = await takeLease(database, lease);
    if (isHeld && this.#heldUntilMs < nowMs) this.#nextSweepMs = 0;
    this.#heldUntilMs = isHeld ? nowMs + leaseMs : 0;
    if (!isHeld) this.#fresh.clear();
    return isHeld;
  }

  #idleMs(): number {
    const untilSweep = Math.max(100, this.#nextSweepMs - performance.now());
    return this.#options.database.dialect === 'pglite'
      ? untilSweep
      : Math.min(untilSweep, leaseMs / 3);
  }

  /** From where nothing is certain to have vectors. */
  #beginSweep({ id, indexedTo }: CurrentEmbedder): void {
    const isNew = this.#embedderId !== id;
    const nowMs = performance.now();
    if (!isNew && (this.#sweepAt !== undefined || nowMs < this.#nextSweepMs)) return;
    const late = firstIdOf(Date.now() - lateMs);
    // What this process swept itself is stored, and no older than a day when it comes here again.
    this.#sweepAt = isNew && indexedTo < late ? indexedTo : late;
    this.#embedderId = id;
    this.#nextSweepMs = nowMs + sweepMs;
  }

  async #sweep(embedder: CurrentEmbedder, after: string): Promise<number> {
    const { database } = this.#options;
    const portion = { after, count: portionMax };
    const { messages, last } = await readUnembedded(database, embedder.id, portion);
    for (let at = 0; at < messages.length; at += freshMax) {
      if (this.#isStopped || !(await this.#hold())) return 0;
      const startedAtMs = performance.now();
      await this.#index(embedder, messages.slice(at, at + freshMax));
      // New messages do not wait for the old ones, and others get half of the embedder's time.
      if (this.#fresh.size > 0) await this.#indexFresh(embedder);
      await this.#sleep(Math.min(1_000, (performance.now() - startedAtMs) / 2));
    }
    this.#sweepAt = last;
    if (last !== undefined) await markIndexed(database, embedder.id, last);
    return 0;
  }

  async #indexFresh(embedder: CurrentEmbedder): Promise<number> {
    const ids = [...this.#fresh].slice(0, freshMax);
    const messages = await readUnembeddedOf(this.#options.database, embedder.id, ids);
    await this.#index(embedder, messages);
    for (const id of ids) this.#fresh.delete(id);
    return this.#fresh.size > 0 ? 0 : this.#idleMs();
  }

  /** Embeds messages and stores it, as many at once as the embedder takes in a second. */
  async #index(embedder: CurrentEmbedder, messages: readonly Unembedded[]): Promise<void> {
    for (let at = 0; at < messages.length;) {
      const batch = messages.slice(at, at + this.#batchSize);
      const startedAtMs = performance.now();
      const entries = await this.#embed(batch);
      this.#adapt(performance.now() - startedAtMs);
      await insertVectors(this.#options.database, embedder.id, entries);
      this.#tell(embedder.id, batch);
      at += batch.length;
    }
  }

  /** A text that the embedder refuses gets no vectors, and the others of its batch do. */
  async #embed(
    batch: readonly Unembedded[],
  ): Promise<Pick<MessageVectors, 'messageId' | 'vectors'>[]> {
    const pieces = batch.map(({ content }) =>
      cutIntoPassages(content).map(({ start, end }) => content.slice(start, end)),
    );
    try {
      const left = (await this.#options.embedding.embedPassages(pieces.flat())).values();
      return batch.map(({ messageId }, at) => {
        const own = (pieces[at] ?? []).map(() => left.next().value ?? new Int8Array());
        return { messageId, vectors: joined(own) };
      });
    } catch (error) {
      if (Fault.from(error).code !== 'invalid') throw error;
      if (batch.length === 1)
        return batch.map(({ messageId }) => ({ messageId, vectors: new Int8Array() }));
      const single = [];
      for (const message of batch) single.push(...(await this.#embed([message])));
      return single;
    }
  }

  #adapt(tookMs: number): void {
    const factor = tookMs > requestGoalMs ? 0.5 : tookMs < requestGoalMs / 4 ? 2 : 1;
    this.#batchSize = Math.min(batchMax, Math.max(1, Math.floor(this.#batchSize * factor)));
  }

  #tell(embedderId: number, batch: readonly Unembedded[]): void {
    const byOwner = new Map<string, string[]>();
    for (const { ownerId, messageId } of batch) {
      byOwner.set(ownerId, [...(byOwner.get(ownerId) ?? []), messageId]);
    }
    for (const [ownerId, messageIds] of byOwner) {
      this.#options.tell({ embedderId, ownerId, messageIds });
    }
  }

  /** Until then, or until there is something new. */
  #sleep(lengthMs: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, lengthMs);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Before all ids of messages that were made from then on. */
function firstIdOf(atMs: number): string {
  return `msg_${Math.max(0, atMs).toString(16).padStart(12, '0')}`;
}

function joined(vectors: readonly Int8Array[]): Int8Array {
  const whole = new Int8Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    whole.set(vector, at);
    at += vector.length;
  }
  return whole;
}
