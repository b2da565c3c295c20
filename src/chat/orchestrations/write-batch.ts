import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Log } from '../../kit/log.ts';
import {
  writeOrchestrations,
  type OrchestrationSql,
  type OrchestrationWrite,
} from './orchestration-store.ts';
import type { StoredStep } from './stored-orchestration.ts';

export interface WriteBatchOptions {
  readonly sql: OrchestrationSql;
  readonly log: Log;
  /** Told once a write found that the orchestration has ended, or is another's. */
  readonly onLost: (id: string) => void;
}

interface Item {
  readonly write: OrchestrationWrite;
  isKept: boolean;
}

const pauseMsMin = 100;
const pauseMsMax = 2_000;

/** Writes of all runs together, each repeated until the database takes it. */
export class WriteBatch implements AsyncDisposable {
  readonly #options: WriteBatchOptions;
  readonly #batch: Batch<Item>;
  readonly #stop = new AbortController();

  constructor(options: WriteBatchOptions) {
    this.#options = options;
    this.#batch = createBatch({
      flush: (items) => this.#flush(items),
      maxItems: 200,
      maxDelayMs: 2,
      maxPending: 20_000,
    });
  }

  /** Resolves once it is durable; false when the orchestration is no longer the writer's. */
  async save(write: OrchestrationWrite): Promise<boolean> {
    const item: Item = { write, isKept: false };
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
      try {
        await this.#batch.add(item);
        break;
      } catch (err) {
        this.#stop.signal.throwIfAborted();
        const { id } = write;
        this.#options.log.warn({ err, id }, 'an orchestration could not be written; trying again');
      }
      await sleep(pauseMs, undefined, { signal: this.#stop.signal });
    }
    if (!item.isKept) this.#options.onLost(write.id);
    return item.isKept;
  }

  /** Writes what waits; what the database does not take then is lost, and done again by others. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#batch.close();
  }

  async #flush(items: readonly Item[]): Promise<void> {
    const writes = merged(items.map(({ write }) => write));
    const kept = await writeOrchestrations(this.#options.sql, writes);
    for (const item of items) item.isKept = kept.has(item.write.id);
  }
}

/** One write for each orchestration; a later state of a step stands for an earlier one. */
function merged(writes: readonly OrchestrationWrite[]): readonly OrchestrationWrite[] {
  const byId = new Map<string, OrchestrationWrite>();
  for (const write of writes) {
    const earlier = byId.get(write.id);
    byId.set(write.id, earlier ? join(earlier, write) : write);
  }
  return [...byId.values()];
}

function join(earlier: OrchestrationWrite, later: OrchestrationWrite): OrchestrationWrite {
  const steps = new Map<number, StoredStep>();
  for (const step of [...earlier.steps, ...later.steps]) steps.set(step.place, step);
  return { ...later, steps: [...steps.values()], end: later.end ?? earlier.end };
}
