import type { Database } from '../../kit/database/database.ts';
import { startThread } from '../../kit/entry-file.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { LastingThread } from '../lasting-thread.ts';
import { shownFrom } from './listing.ts';
import { findTrace } from './stored-trace-store.ts';
import type { Asked, FoundTrace, ReadReply, ReadRequest } from './messages.ts';
import type { PairViewName, ViewInputs, ViewName } from './views.ts';

interface Waiting {
  readonly resolve: (json: Buffer) => void;
  readonly reject: (error: Fault) => void;
}

/** Answers that may be in the making at once: each holds its trace's chunks in memory. */
const readingMax = 16;
/** A trace of a million spans fits; one that does not ends the thread alone. */
const heapMegabytes = 1_536;
const threadFile = { beside: import.meta.url, name: 'reading-thread' };
/** Requests that may wait for their turn. */
const waitingMax = 200;

export interface TraceReaderOptions {
  readonly database: Database;
  readonly log: Log;
  /** Resolves once all that is stored of a trace can be found; answers whether it may have an open row. */
  readonly settle: (traceId: string) => Promise<boolean>;
}

/** Reads stored traces in a thread. */
export class TraceReader implements AsyncDisposable {
  readonly #database: Database;
  readonly #log: Log;
  readonly #settle: TraceReaderOptions['settle'];
  readonly #thread: LastingThread<ReadRequest, ReadReply>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #queue: (() => void)[] = [];
  #reading = 0;
  #lastId = 0;

  constructor({ database, log, settle }: TraceReaderOptions) {
    this.#database = database;
    this.#log = log;
    this.#settle = settle;
    this.#thread = new LastingThread({
      start: () => startThread(threadFile, {}, { maxOldGenerationSizeMb: heapMegabytes }),
      onReply: (reply: ReadReply) => this.#take(reply),
      onDeath: (reason) => this.#onDeath(reason),
    });
  }

  /**
   * What a view says of a trace, as JSON. A Fault `not_found` names a trace that is not stored (any
   * more), `exhausted` says that too many are being read.
   */
  view<Name extends ViewName>(
    traceId: string,
    view: Name,
    input: ViewInputs[Name],
  ): Promise<Buffer> {
    return this.show(traceId, { view, input });
  }

  /** The same, of a view whose input somebody else has checked. */
  show(traceId: string, asked: Asked): Promise<Buffer> {
    return this.#read([traceId], asked);
  }

  /** What is said of two traces, as JSON; refused as a view is. */
  pair(pair: PairViewName, baseId: string, otherId: string): Promise<Buffer> {
    return this.#read([baseId, otherId], { pair });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }

  async #read(traceIds: readonly string[], asked: Asked): Promise<Buffer> {
    await this.#enter();
    try {
      const traces = await Promise.all(traceIds.map((traceId) => this.#find(traceId)));
      return await this.#ask({ asked, traces });
    } finally {
      this.#leave();
    }
  }

  async #find(traceId: string): Promise<FoundTrace> {
    const hasOpenRow = await this.#settle(traceId);
    return findTrace(this.#database, traceId, { ...shownFrom(Date.now()), hasOpenRow });
  }

  #ask(request: Omit<ReadRequest, 'id'>): Promise<Buffer> {
    this.#lastId += 1;
    const id = this.#lastId;
    if (!this.#thread.current) throw notReading();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#thread.post({ id, ...request });
    });
  }

  #take(reply: ReadReply): void {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    this.#waiting.delete(reply.id);
    if ('json' in reply) {
      const { buffer, byteOffset, byteLength } = reply.json;
      return waiting.resolve(Buffer.from(buffer, byteOffset, byteLength));
    }
    const { code, message, reason } = reply.refusal;
    waiting.reject(new Fault(code, message, reason === undefined ? {} : { reason }));
  }

  async #enter(): Promise<void> {
    if (this.#reading >= readingMax) {
      if (this.#queue.length >= waitingMax) {
        throw new Fault('exhausted', 'too many traces are being read', { retryAfter: 1 });
      }
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    }
    this.#reading += 1;
  }

  #leave(): void {
    this.#reading -= 1;
    this.#queue.shift()?.();
  }

  /** A trace that outgrows the thread's memory ends it; the next one knows nothing of it. */
  #onDeath(reason: unknown): void {
    this.#log.error({ err: reason }, 'the reading of traces died and starts again');
    for (const { reject } of this.#waiting.values()) reject(notReading());
    this.#waiting.clear();
  }
}

function notReading(): Fault {
  return new Fault('unavailable', 'the trace could not be read now', { retryAfter: 5 });
}
