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

/** While the database is at one statement, the executions of another go on. */
const statementsMax = 2;

/** So many items are worth a statement of their own. */
const worthwhile = 4;

/**
 * Writes what all executions of this process have to say, many in one statement: while one is under way
 * the next fills. What an execution adds first is written first.
 */
export class Journal {
  readonly #options: JournalOptions;
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #statementCount = 0;
  /** Executions with items in a statement that is under way. */
  readonly #underWay = new Set<string>();

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
      this.#writeSoon();
    });
  }

  #writeSoon(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    if (this.#statementCount >= statementsMax) return;
    this.#isScheduled = true;
    // What else this turn of the event loop brings comes along.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#writeNext();
    });
  }

  async #writeNext(): Promise<void> {
    const items = this.#take();
    if (items.length === 0) return;
    const ids = new Set(items.map(({ item }) => idOf(item)));
    this.#statementCount += 1;
    for (const id of ids) this.#underWay.add(id);
    this.#writeSoon();
    await this.#write(items);
    for (const id of ids) this.#underWay.delete(id);
    this.#statementCount -= 1;
    this.#writeSoon();
  }

  /**
   * As much as one statement should carry: of one execution's fate nothing after it, and of an execution
   * nothing beside what is under way of it.
   */
  #take(): Waiting[] {
    const countMax = this.#statementSize();
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    const closed = new Set(this.#underWay);
    let bytes = 0;
    for (const [index, waiting] of this.#waiting.entries()) {
      if (taken.length >= countMax || bytes >= bytesMax) {
        left.push(...this.#waiting.slice(index));
        break;
      }
      const { item } = waiting;
      if (closed.has(idOf(item))) {
        left.push(waiting);
        continue;
      }
      taken.push(waiting);
      if (item.kind === 'start') continue;
      if (item.entry.change) closed.add(idOf(item));
      for (const { output } of item.entry.nodes) bytes += output?.length ?? 0;
    }
    this.#waiting = left;
    return taken;
  }

  /** The first takes its share only, so that the statements take turns from then on. */
  #statementSize(): number {
    const share = Math.ceil(this.#waiting.length / (statementsMax - this.#statementCount));
    return Math.min(itemsMax, Math.max(share, worthwhile));
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
