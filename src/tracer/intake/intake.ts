import type { Database } from '../../kit/database/database.ts';
import { startThread } from '../../kit/entry-file.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { BaselineTable } from './baseline-table.ts';
import type {
  AcceptedExport,
  Completion,
  ExportForm,
  IntakeReply,
  IntakeRequest,
  IntakeSettings,
  OpenRows,
  TraceEvent,
  UnfitTrace,
  Write,
} from './messages.ts';
import { LastingThread, ownMemory } from '../lasting-thread.ts';
import { payOwedRows } from './recovery.ts';
import { faultOf, notStored, stopping } from './refusals.ts';
import { Settling } from './settling.ts';
import { SpanWriter } from './span-writer.ts';

export interface IntakeOptions extends Omit<IntakeSettings, 'owesRows'> {
  readonly database: Database;
  /** Has the partitions of today ready. */
  readonly readyPartitions: () => Promise<void>;
  readonly log: Log;
  /** Bytes of exports that may wait for their answers. */
  readonly queuedBytesMax: number;
  /** Told of traces that are complete, once that is stored. */
  readonly onComplete: (events: readonly TraceEvent[]) => void;
}

/** What intake is doing now. */
export interface IntakeState {
  readonly openTraces: number;
  readonly openSpans: number;
  /** Exports that wait for their answers. */
  readonly queuedExports: number;
}

interface Waiting {
  readonly bytes: number;
  readonly resolve: (answer: AcceptedExport) => void;
  readonly reject: (error: Fault) => void;
}

const adoptMs = 60_000;

/** Far above what open traces and waiting exports take by the settings. */
const heapMegabytes = 2_048;

/** Takes exports of spans: an export that is answered is stored. */
export class Intake implements AsyncDisposable {
  readonly #options: IntakeOptions;
  readonly #thread: LastingThread<IntakeRequest, IntakeReply>;
  readonly #writer: SpanWriter;
  readonly #waiting = new Map<number, Waiting>();
  readonly #adopting: NodeJS.Timeout;
  readonly #settling = new Settling((id, traceId) =>
    this.#thread.post({ kind: 'settle', id, traceId }),
  );
  /** What is being written or read. */
  readonly #work = new Set<Promise<void>>();
  #lastId = 0;
  #queuedBytes = 0;
  #openTraces = 0;
  #openSpans = 0;
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#writer = new SpanWriter(options.database, options.readyPartitions);
    this.#thread = new LastingThread({
      start: () => this.#startThread(),
      onReply: (reply: IntakeReply) => this.#take(reply),
      onDeath: (reason) => this.#onDeath(reason),
      onRestart: () => this.start(),
    });
    this.#adopting = setInterval(() => this.#adoptOthers(), adoptMs);
    this.#adopting.unref();
  }

  get state(): IntakeState {
    return {
      openTraces: this.#openTraces,
      openSpans: this.#openSpans,
      queuedExports: this.#waiting.size,
    };
  }

  /**
   * Stores an export and answers what was taken of it. A Fault `invalid` or `too_large` says that it
   * can't be read, `exhausted` that too much waits already, `unavailable` that it is not stored.
   */
  submit(body: Uint8Array, form: ExportForm): Promise<AcceptedExport> {
    if (this.#isClosed || !this.#thread.current) return Promise.reject(stopping());
    const bytes = body.length;
    if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > this.#options.queuedBytesMax) {
      const message = 'too many spans wait to be stored; send them again later';
      return Promise.reject(new Fault('exhausted', message, { retryAfter: 1 }));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    this.#queuedBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { bytes, resolve, reject });
      this.#thread.post({ kind: 'export', id, body, form }, ownMemory(body));
    });
  }

  /** Takes up what was open when the process ended, or another replica. */
  start(): void {
    if (this.#isAlone) this.#track(this.#recover());
    else this.#adoptOthers();
  }

  /** Resolves once all that is stored of open traces, or of one, stands in their rows. */
  settle(traceId?: string): Promise<void> {
    return this.#settling.settle(traceId);
  }

  setBaselines(table: BaselineTable): void {
    this.#thread.post({ kind: 'baselines', table });
  }

  /** Refuses new exports and stores those that wait; open traces go on at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#adopting);
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
    await Promise.allSettled(this.#work);
    await this.#thread[Symbol.asyncDispose]();
    this.#settling.clear();
  }

  /** The embedded database is this process's alone, so whatever is open is its own. */
  get #isAlone(): boolean {
    return this.#options.database.dialect === 'pglite';
  }

  #startThread() {
    const { quietMs, partialMs, exportBytesMax, openSpansMax } = this.#options;
    const owesRows = this.#isAlone;
    const settings = { quietMs, partialMs, exportBytesMax, openSpansMax, owesRows };
    const file = { beside: import.meta.url, name: 'intake-thread' };
    return startThread(file, settings satisfies IntakeSettings, {
      maxOldGenerationSizeMb: heapMegabytes,
    });
  }

  #take(reply: IntakeReply): void {
    switch (reply.kind) {
      case 'accepted':
        return this.#answer(reply.answer.id, ({ resolve }) => resolve(reply.answer));
      case 'refused': {
        const fault = faultOf(reply.refusal);
        return this.#answer(reply.id, ({ reject }) => reject(fault));
      }
      case 'write':
        return this.#track(this.#write(reply.write));
      case 'complete':
        return this.#track(this.#complete(reply.completion));
      case 'rows':
        return this.#track(this.#writeRows(reply.rows));
      case 'settled':
        return this.#settling.noteSettled(reply.id);
      case 'load':
        return this.#track(this.#load(reply.traceIds));
      case 'abandon':
        return this.#track(this.#abandon(reply.traces));
      case 'state':
        this.#openTraces = reply.openTraces;
        this.#openSpans = reply.openSpans;
    }
  }

  async #write({ exports, ...write }: Write): Promise<void> {
    const asking = this.#thread.current;
    const post = this.#replier();
    try {
      const written = await this.#writer.write(write);
      const isOwed = written.chunk !== undefined && asking === this.#thread.current;
      if (isOwed) this.#settling.noteChunk(write.traceIds);
      post({ kind: 'written', ...written });
      for (const answer of exports) this.#answer(answer.id, ({ resolve }) => resolve(answer));
    } catch (error) {
      this.#options.log.error({ err: error }, 'spans could not be stored');
      post({ kind: 'write-failed' });
      const fault = notStored(error);
      for (const { id } of exports) this.#answer(id, ({ reject }) => reject(fault));
    }
  }

  async #complete(completion: Completion): Promise<void> {
    const post = this.#replier();
    try {
      const changed = await this.#writer.complete(completion);
      if (changed) return post({ kind: 'not-completed', changed });
      this.#settling.noteNamed(completion.named);
      post({ kind: 'completed' });
      this.#options.onComplete(completion.events);
    } catch (error) {
      this.#options.log.error({ err: error }, 'complete traces could not be stored');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      post({ kind: 'not-completed', changed: [] });
    }
  }

  async #writeRows(rows: OpenRows): Promise<void> {
    const post = this.#replier();
    try {
      const revisions = await this.#writer.writeRows(rows);
      this.#settling.noteNamed(rows.named);
      post({ kind: 'rows-over', revisions });
    } catch (error) {
      this.#options.log.error({ err: error }, 'the rows of open traces could not be stored');
      post({ kind: 'rows-over', revisions: undefined });
    }
  }

  async #load(traceIds: readonly string[]): Promise<void> {
    const post = this.#replier();
    try {
      const loaded = await this.#writer.load(traceIds);
      post({ kind: 'loaded', ...loaded });
    } catch (error) {
      this.#options.log.error({ err: error }, 'open traces could not be read');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      post({ kind: 'not-loaded' });
    }
  }

  async #abandon(traces: readonly UnfitTrace[]): Promise<void> {
    const { log } = this.#options;
    this.#settling.forget(traces.map(({ traceId }) => traceId));
    log.warn({ traces }, 'open traces that can never be complete are forgotten');
    try {
      await this.#writer.abandon(traces.map(({ traceId }) => traceId));
    } catch (error) {
      log.warn({ err: error }, 'open traces could not be forgotten');
    }
  }

  /** What the process before this one did not come to, or the thread. */
  async #recover(): Promise<void> {
    try {
      await Promise.allSettled(this.#work);
      await payOwedRows(this.#options.database);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the rows of open traces could not be made');
    }
    await this.#adopt(Number.MAX_SAFE_INTEGER);
  }

  #adoptOthers(): void {
    this.#track(this.#adopt(Date.now() - adoptMs));
  }

  async #adopt(beforeMs: number): Promise<void> {
    try {
      for await (const traceIds of this.#writer.findForsaken(beforeMs)) {
        this.#thread.post({ kind: 'adopt', traceIds });
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'open traces could not be looked for');
    }
  }

  #answer(id: number, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    this.#queuedBytes -= waiting.bytes;
    settle(waiting);
    if (this.#waiting.size === 0) this.#drained?.();
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  /** Answers the thread that asked: another one in its place knows nothing of it. */
  #replier(): (request: IntakeRequest) => void {
    const asking = this.#thread.current;
    return (request) => this.#thread.post(request, [], asking);
  }

  /** Nothing that waits will be answered by it; what was stored goes on with the next one. */
  #onDeath(reason: unknown): void {
    this.#options.log.error({ err: reason }, 'the intake of spans died and starts again');
    this.#openTraces = 0;
    this.#openSpans = 0;
    this.#settling.clear();
    for (const id of this.#waiting.keys()) this.#answer(id, ({ reject }) => reject(stopping()));
  }
}
