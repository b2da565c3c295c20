import { Fault } from '../../../kit/errors.ts';
import type { Log } from '../../../kit/log.ts';
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

/** Fewer executions are not worth a statement beside another. */
const executionsMin = 8;

/**
 * Writes what all executions of this process have to say, many in one statement: while one is under way
 * the next fills. What an execution adds first is written first.
 */
export class Journal {
  readonly #options: JournalOptions;
  /** By execution, in the order in which each began to wait. */
  readonly #waiting = new Map<string, Waiting[]>();
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
      const id = idOf(item);
      const waiting = { item, resolve, reject };
      const before = this.#waiting.get(id);
      if (before) before.push(waiting);
      else this.#waiting.set(id, [waiting]);
      this.#writeSoon();
    });
  }

  #writeSoon(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    if (this.#statementCount >= statementsMax) return;
    this.#isScheduled = true;
    // What else this turn of the event loop brings comes along.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#writeNext();
    });
  }

  async #writeNext(): Promise<void> {
    const ids = this.#choose();
    if (ids.length === 0) return;
    const items = this.#take(ids);
    this.#statementCount += 1;
    for (const id of ids) this.#underWay.add(id);
    this.#writeSoon();
    await this.#write(items);
    for (const id of ids) this.#underWay.delete(id);
    this.#statementCount -= 1;
    this.#writeSoon();
  }

  /** Executions that the next statement writes of: half of many, so that two statements take turns. */
  #choose(): string[] {
    const ids = [...this.#waiting.keys()].filter((id) => !this.#underWay.has(id));
    const isBeside = this.#statementCount > 0;
    if (isBeside) return ids.length < executionsMin ? [] : ids;
    return ids.length < 2 * executionsMin ? ids : ids.slice(0, Math.ceil(ids.length / 2));
  }

  /** Of these executions as much as one statement should carry, and of one's fate nothing after it. */
  #take(ids: readonly string[]): Waiting[] {
    const taken: Waiting[] = [];
    let bytes = 0;
    for (const id of ids) {
      const waiting = this.#waiting.get(id) ?? [];
      let count = 0;
      for (const { item } of waiting) {
        if (taken.length + count >= itemsMax || bytes >= bytesMax) break;
        count += 1;
        if (item.kind === 'start') continue;
        for (const { output } of item.entry.nodes) bytes += output?.length ?? 0;
        if (item.entry.change) break;
      }
      taken.push(...waiting.splice(0, count));
      if (waiting.length === 0) this.#waiting.delete(id);
    }
    return taken;
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
