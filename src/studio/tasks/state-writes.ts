import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Log } from '../../kit/log.ts';
import { writeStates } from './dispatch-store.ts';
import type { StoredTask } from './stored-task.ts';
import type { ToldTask } from './task-news.ts';
import type { TaskSql } from './task-store.ts';

export interface StateWritesOptions {
  readonly sql: TaskSql;
  readonly log: Log;
  readonly epoch: number;
  /** What is stored now, each task in the order of its changes. */
  readonly onWritten: (tasks: readonly ToldTask[]) => void;
}

interface Item {
  readonly state: ToldTask;
  stored: StoredTask | undefined;
}

const pauseMsMin = 100;
const pauseMsMax = 2_000;
/** Of results that are written with one statement. */
const portionLengthMax = 8 * 2 ** 20;

/** Writes of all runs together, each repeated until the database takes it. */
export class StateWrites implements AsyncDisposable {
  readonly #options: StateWritesOptions;
  readonly #batch: Batch<Item>;
  readonly #stop = new AbortController();

  constructor(options: StateWritesOptions) {
    this.#options = options;
    this.#batch = createBatch({
      flush: (items) => this.#flush(items),
      maxItems: 200,
      maxDelayMs: 2,
      maxPending: 100_000,
    });
  }

  /**
   * Resolves once it is durable, with its input where it was assigned; undefined when the task has ended
   * meanwhile, or is another replica's. Rejects only when this is disposed of.
   */
  async save(state: ToldTask): Promise<StoredTask | undefined> {
    const item: Item = { state, stored: undefined };
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
      try {
        await this.#batch.add(item);
        return item.stored;
      } catch (err) {
        this.#stop.signal.throwIfAborted();
        this.#options.log.warn({ err, taskId: state.id }, 'a task was not written; trying again');
      }
      await sleep(pauseMs, undefined, { signal: this.#stop.signal });
    }
  }

  /** Writes what waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#batch.close();
  }

  async #flush(items: readonly Item[]): Promise<void> {
    for (const portion of portionsOf(items)) {
      const { sql, epoch, onWritten } = this.#options;
      // A statement writes a row only once: the last state stands for those before it.
      const states = new Map(portion.map(({ state }) => [state.id, state]));
      const stored = await writeStates(sql, epoch, [...states.values()]);
      for (const item of portion) item.stored = stored.get(item.state.id);
      onWritten(portion.filter((item) => item.stored).map(({ state }) => state));
    }
  }
}

function portionsOf(items: readonly Item[]): Item[][] {
  const portions: Item[][] = [[]];
  let length = 0;
  for (const item of items) {
    const { result, artefacts } = item.state;
    const own = result ? JSON.stringify([result, artefacts]).length : 0;
    if (length > 0 && length + own > portionLengthMax) {
      portions.push([]);
      length = 0;
    }
    portions.at(-1)?.push(item);
    length += own;
  }
  return portions;
}
