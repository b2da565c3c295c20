import { startThread } from '../../kit/entry-file.ts';
import type { BaselineTable } from './baseline-table.ts';
import type {
  ExportForm,
  IntakeReply,
  IntakeRequest,
  IntakeSettings,
  OpenRows,
  UnfitTrace,
} from './messages.ts';
import { Holders } from './holders.ts';
import type { IntakeOptions, IntakeState } from './intake-options.ts';
import type { AcceptedExport, Completion, Write } from './writes.ts';
import { LastingThread, ownMemory } from '../lasting-thread.ts';
import { payOwedRows } from './recovery.ts';
import { faultOf, notStored, stopping, tooManyWait } from './refusals.ts';
import type { OpenQuery, OpenTraces } from './open-listing.ts';
import { Settling } from './settling.ts';
import { SpanWriter } from './span-writer.ts';
import { WaitingExports } from './waiting-exports.ts';

const adoptMs = 60_000;
/** How much longer than its own replica others wait for a trace: that one may be slow. */
const forsakenMs = 30_000;

/** Far above what open traces and waiting exports take by the settings. */
const heapMegabytes = 2_048;

/** Takes exports of spans: an export that is answered is stored. */
export class Intake implements AsyncDisposable {
  readonly #options: IntakeOptions;
  readonly #thread: LastingThread<IntakeRequest, IntakeReply>;
  readonly #writer: SpanWriter;
  readonly #waiting = new WaitingExports();
  readonly #adopting: NodeJS.Timeout;
  readonly #holders: Holders;
  readonly #settling: Settling;
  /** What is being written or read. */
  readonly #work = new Set<Promise<unknown>>();
  #openTraces = 0;
  #openSpans = 0;
  #isClosed = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    const { database, readyPartitions, log } = options;
    this.#settling = new Settling(
      (id, wanted) => this.#thread.post({ kind: 'read', id, wanted }),
      this.#isAlone,
    );
    this.#holders = new Holders({ database, log, onTakenOver: (ids) => this.#adoptThese(ids) });
    this.#writer = new SpanWriter(database, { readyPartitions, holder: this.#holders.id });
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
      queuedExports: this.#waiting.count,
    };
  }

  /**
   * Stores an export and answers what was taken of it. A Fault `invalid` or `too_large` says that it
   * can't be read, `exhausted` that too much waits already, `unavailable` that it is not stored.
   */
  submit(body: Uint8Array, form: ExportForm): Promise<AcceptedExport> {
    if (this.#isClosed || !this.#thread.current) return Promise.reject(stopping());
    const queuedBytes = this.#waiting.bytes;
    if (queuedBytes > 0 && queuedBytes + body.length > this.#options.queuedBytesMax) {
      return Promise.reject(tooManyWait());
    }
    return this.#waiting.add(body.length, (id) =>
      this.#thread.post({ kind: 'export', id, body, form }, ownMemory(body)),
    );
  }

  /** Takes up what was open when the process ended, or another replica. */
  start(): void {
    if (this.#isAlone) return this.#track(this.#recover());
    this.#holders.start();
    this.#adoptOthers();
  }

  /** Resolves once all that is stored of an open trace stands in its row; answers whether it may have one. */
  settle(traceId: string): Promise<boolean> {
    return this.#settling.settle(traceId);
  }

  /** The open traces that no row tells of; a statement that is sent at once finds all others. */
  listOpen(query: OpenQuery): Promise<OpenTraces> {
    return this.#settling.list(query);
  }

  setBaselines(table: BaselineTable): void {
    this.#thread.post({ kind: 'baselines', table });
  }

  /** Refuses new exports and stores those that wait; open traces go on at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#adopting);
    await this.#waiting.drained();
    await Promise.allSettled(this.#work);
    await this.#holders[Symbol.asyncDispose]();
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
        return this.#waiting.accept(reply.answer);
      case 'refused':
        return this.#waiting.refuse(reply.id, faultOf(reply.refusal));
      case 'write':
        return this.#track(this.#write(reply.write));
      case 'complete': {
        const isStored = this.#complete(reply.completion);
        this.#track(isStored);
        return this.#settling.noteCompleting(isStored);
      }
      case 'rows':
        return this.#track(this.#writeRows(reply.rows));
      case 'settled':
        return this.#settling.noteSettled(reply.id, reply.listing);
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
      const isOwed = written.chunks !== undefined && asking === this.#thread.current;
      if (isOwed) this.#settling.noteChunks(write.chunks);
      post({ kind: 'written', ...written });
      for (const answer of exports) this.#waiting.accept(answer);
    } catch (error) {
      this.#options.log.error({ err: error }, 'spans could not be stored');
      post({ kind: 'write-failed' });
      const fault = notStored(error);
      for (const { id } of exports) this.#waiting.refuse(id, fault);
    }
  }

  /** Whether it is stored. */
  async #complete(completion: Completion): Promise<boolean> {
    const post = this.#replier();
    try {
      const changed = await this.#writer.complete(completion);
      if (changed) {
        post({ kind: 'not-completed', changed });
        return false;
      }
      this.#settling.noteNamed(completion.named);
      this.#settling.noteNoRows(completion.traceIds);
      post({ kind: 'completed' });
      this.#options.onComplete(completion.events);
      return true;
    } catch (error) {
      this.#options.log.error({ err: error }, 'complete traces could not be stored');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      post({ kind: 'not-completed', changed: [] });
      return false;
    }
  }

  async #writeRows(rows: OpenRows): Promise<void> {
    const post = this.#replier();
    this.#settling.noteRows(rows.named.map(({ traceId }) => traceId));
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
      this.#settling.noteNoRows(loaded.gone);
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
      const traceIds = traces.map(({ traceId }) => traceId);
      await this.#writer.abandon(traceIds);
      this.#settling.noteNoRows(traceIds);
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
    if (await this.#adopt(0)) this.#settling.noteTakenUp();
  }

  #adoptOthers(): void {
    const { quietMs, partialMs } = this.#options;
    this.#track(this.#adopt(Math.max(quietMs, partialMs) + forsakenMs));
  }

  /** Whether the thread has been told of all. */
  async #adopt(untouchedMs: number): Promise<boolean> {
    try {
      for await (const ids of this.#writer.findForsaken(untouchedMs)) this.#adoptThese(ids);
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'open traces could not be looked for');
      return false;
    }
  }

  #adoptThese(traceIds: readonly string[]): void {
    this.#settling.noteRows(traceIds);
    this.#thread.post({ kind: 'adopt', traceIds });
  }

  #track(work: Promise<unknown>): void {
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
    this.#waiting.refuseAll(stopping);
  }
}
