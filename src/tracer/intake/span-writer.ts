import type { Database } from '../../kit/database/database.ts';
import { forgetErrors, logErrors } from '../series/error-log-store.ts';
import { applyAdditions, type StatementParts } from '../series/series-store.ts';
import type { OpenRows } from './messages.ts';
import type { Completion, LoadedTrace, Write, WrittenRevision } from './writes.ts';
import { readChunks } from './chunk-store.ts';
import { writeChunks, writeOpenRows } from './open-store.ts';
import {
  completeTraces,
  deleteOpenTraces,
  findCompleted,
  findForsaken,
  firstPartParameter,
  lacksPartition,
  loadOpenTraces,
  writeSpans,
  type OpenPlace,
} from './trace-store.ts';

/** Traces taken up at once. */
const pageSize = 5_000;

/** What was read of open traces. */
export interface Loaded {
  readonly traces: readonly LoadedTrace[];
  readonly chunks: ReadonlyMap<number, Buffer>;
  readonly gone: readonly string[];
}

/** What a write answers. */
export interface Written {
  readonly revisions: readonly WrittenRevision[];
  /** The numbers of its chunks, where their traces' rows are owed. */
  readonly chunks: readonly number[] | undefined;
  readonly lateIds: readonly string[];
}

export interface SpanWriterOptions {
  /** Has the partitions of today ready. */
  readonly readyPartitions: () => Promise<void>;
  /** What this process is called in the rows of its open traces. */
  readonly holder: string;
}

/** What intake does in the database: few statements, each all or nothing. */
export class SpanWriter {
  readonly #database: Database;
  readonly #readyPartitions: () => Promise<void>;
  readonly #holder: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: Database, { readyPartitions, holder }: SpanWriterOptions) {
    this.#database = database;
    this.#readyPartitions = readyPartitions;
    this.#holder = holder;
  }

  /** Stores spans, with the rows of their traces where these are not owed. */
  async write({ rows, ...write }: Omit<Write, 'exports'>): Promise<Written> {
    if (rows === undefined) {
      const stored = await this.#withPartitions(() =>
        writeChunks(this.#database, write, Date.now()),
      );
      return { revisions: [], ...stored };
    }
    const revisions = await this.#withPartitions(() =>
      writeSpans(this.#database, { ...write, rows, holder: this.#holder }),
    );
    return { revisions, chunks: undefined, lateIds: [] };
  }

  /** Writes rows of open traces that were owed; answers their revisions. */
  writeRows(rows: OpenRows): Promise<WrittenRevision[]> {
    return this.#inTurn(() => writeOpenRows(this.#database, rows));
  }

  /** Stores complete traces; answers undefined when done, else those to load before it can be. */
  async complete(completion: Completion): Promise<readonly string[] | undefined> {
    const { doubtfulIds, traceIds } = completion;
    if (doubtfulIds.length > 0) {
      // Their rows meet no row of another day.
      const known = await findCompleted(this.#database, doubtfulIds);
      if (known.size > 0) return [...known];
    }
    const parts = completionParts(completion, firstPartParameter);
    try {
      const isDone = await this.#withPartitions(() =>
        completeTraces(this.#database, completion, parts),
      );
      return isDone ? undefined : traceIds;
    } catch (error) {
      // The day on which one of them began is not kept any more.
      if (lacksPartition(error)) return traceIds;
      throw error;
    }
  }

  /** Forgets traces that can never be complete. */
  abandon(traceIds: readonly string[]): Promise<void> {
    return this.#inTurn(() => deleteOpenTraces(this.#database, traceIds));
  }

  async load(traceIds: readonly string[]): Promise<Loaded> {
    const traces = await loadOpenTraces(this.#database, traceIds);
    const found = new Set(traces.map(({ traceId }) => traceId));
    const ids = new Set(traces.flatMap((trace) => trace.chunks));
    const chunks = await readChunks(this.#database, [...ids]);
    return { traces, chunks, gone: traceIds.filter((traceId) => !found.has(traceId)) };
  }

  /** Ids of open traces that nobody has added to for so long, page by page. */
  async *findForsaken(untouchedMs: number): AsyncGenerator<string[]> {
    let after: OpenPlace = { receivedAt: -1, traceId: '0'.repeat(32) };
    for (;;) {
      const page = await findForsaken(this.#database, { untouchedMs, after, limit: pageSize });
      const last = page.at(-1);
      if (!last) return;
      yield page.map(({ traceId }) => traceId);
      after = last;
    }
  }

  /** The clock may have jumped to a day that nobody was ready for: a machine that slept. */
  async #withPartitions<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#inTurn(work);
    } catch (error) {
      if (!lacksPartition(error)) throw error;
      await this.#readyPartitions();
      return this.#inTurn(work);
    }
  }

  /** The embedded database has one session: so whoever reads waits for one write at most. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#database.dialect !== 'pglite') return work();
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

/** What a completion adds to the series and says to the error log. */
function completionParts(completion: Completion, firstParameter: number): StatementParts {
  const ctes: string[] = [];
  const parameters: unknown[] = [];
  const add = (parts: (place: number) => StatementParts): void => {
    const part = parts(firstParameter + parameters.length);
    ctes.push(...part.ctes);
    parameters.push(...part.parameters);
  };
  add((place) => applyAdditions(completion.additions, place));
  add((place) => logErrors(completion.errors, place));
  add((place) => forgetErrors(completion.outdatedErrors, place));
  return { ctes, parameters };
}
