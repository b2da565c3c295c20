import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { StoredExecution } from './execution-row.ts';
import type { JournalEntry } from './journal-row.ts';
import { writeJournal, type EngineSql } from './journal-store.ts';

export interface JournalOptions {
  readonly sql: EngineSql;
  readonly log: Log;
  /** How long a database that is away is tried again; a replica is dead to others after that. */
  readonly patienceMs: number;
  /** Nobody else can have the database open. */
  readonly isAlone: boolean;
}

type Item =
  | { readonly kind: 'start'; readonly execution: StoredExecution }
  | { readonly kind: 'entry'; readonly entry: JournalEntry };

interface Waiting {
  readonly item: Item;
  readonly resolve: (isTaken: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const itemsMax = 400;
const bytesMax = 8 * 1024 * 1024;
const retryMs = 250;

/**
 * Writes what all executions of this process have to say, as much as there is in one statement: while
 * one is under way the next fills. What is added first is written first.
 */
export class Journal {
  readonly #options: JournalOptions;
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #isWriting = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** True once it is stored; false when its idempotency key is taken. */
  start(execution: StoredExecution): Promise<boolean> {
    return this.#add({ kind: 'start', execution });
  }

  /** True once it is stored; false, and nothing is, when the execution is no longer this epoch's. */
  write(entry: JournalEntry): Promise<boolean> {
    return this.#add({ kind: 'entry', entry });
  }

  #add(item: Item): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isWriting || this.#isScheduled) return;
      this.#isScheduled = true;
      // What else this turn of the event loop brings comes along.
      setImmediate(() => void this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    this.#isScheduled = false;
    this.#isWriting = true;
    while (this.#waiting.length > 0) await this.#write(this.#take());
    this.#isWriting = false;
  }

  /** As much as one statement should carry, and of one execution's fate nothing after it. */
  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    const changed = new Set<string>();
    for (const { item } of this.#waiting) {
      if (item.kind === 'entry') {
        if (changed.has(item.entry.executionId)) break;
        if (item.entry.change) changed.add(item.entry.executionId);
        for (const { output } of item.entry.nodes) bytes += output?.length ?? 0;
      }
      count += 1;
      if (count >= itemsMax || bytes >= bytesMax) break;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(items: readonly Waiting[]): Promise<void> {
    try {
      const taken = await this.#writePatiently(items);
      for (const { item, resolve } of items) resolve(taken.has(idOf(item)));
    } catch (error) {
      if (items.length === 1 || isAway(error)) {
        for (const { reject } of items) reject(error);
        return;
      }
      // One item that the database refuses must not take the others with it.
      for (const half of halves(items)) await this.#write(half);
    }
  }

  async #writePatiently(items: readonly Waiting[]): Promise<Set<string>> {
    const { sql, log, patienceMs, isAlone } = this.#options;
    const giveUpAtMs = Date.now() + patienceMs;
    for (;;) {
      try {
        return await writeJournal(sql, {
          starts: items.flatMap(({ item }) => (item.kind === 'start' ? [item.execution] : [])),
          entries: items.flatMap(({ item }) => (item.kind === 'entry' ? [item.entry] : [])),
          isAlone,
        });
      } catch (error) {
        if (!isAway(error) || Date.now() + retryMs > giveUpAtMs) throw error;
        log.warn({ err: error }, 'the journal of executions could not be written; trying again');
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}

function idOf(item: Item): string {
  return item.kind === 'start' ? item.execution.id : item.entry.executionId;
}

function isAway(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'unavailable' || error.code === 'deadline');
}

function halves<T>(items: readonly T[]): [readonly T[], readonly T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
