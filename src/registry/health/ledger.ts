import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type {
  Connection,
  ConnectionNotes,
  Directory,
  HealthNote,
} from '../connections/connection.ts';
import type { Finding } from './finding.ts';
import { judgeCheck, judgeSignal, type Judgement } from './judgement.ts';

export interface LedgerOptions {
  readonly directory: Pick<Directory, 'find'>;
  readonly notes: Pick<ConnectionNotes, 'noteHealth'>;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface LedgerEntryOptions {
  /** False at the time of writing: the entry is dropped, because another replica decides now. */
  readonly isValid?: (() => boolean) | undefined;
}

interface Entry extends LedgerEntryOptions {
  readonly note: HealthNote;
}

/** What came of an entry. */
export interface Entered extends Judgement {
  /** Resolves when it is written; never rejects: what cannot be written is logged, once for a row. */
  readonly written: Promise<void>;
}

/** One statement for what was found in this time. */
const delayMs = 200;
const itemsMax = 500;
const pendingMax = 50_000;

/**
 * What is found of connections, judged and written: many in one statement. What waits to be written
 * counts for the next judgement already.
 */
export class HealthLedger implements AsyncDisposable {
  readonly #options: LedgerOptions;
  readonly #batch: Batch<Entry>;
  /** The newest judgement of each connection that is not written yet. */
  readonly #pending = new Map<string, Judgement>();
  #failureCount = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#batch = createBatch<Entry>({
      flush: (entries) => this.#write(entries),
      maxItems: itemsMax,
      maxDelayMs: delayMs,
      maxPending: pendingMax,
    });
  }

  /** How a connection stands now, with what waits to be written. */
  standing(connection: Connection): Judgement {
    const { id } = connection;
    return this.#pending.get(id) ?? this.#options.directory.find(id) ?? connection;
  }

  enterCheck(connection: Connection, finding: Finding, options: LedgerEntryOptions = {}): Entered {
    const judged = { ...this.standing(connection), healthCheck: connection.healthCheck };
    return this.#enter(connection.id, judgeCheck(judged, finding, this.#options.now()), options);
  }

  /** What a call showed. */
  enterSignal(connection: Connection, finding: Finding): Entered {
    const judged = { ...this.standing(connection), healthCheck: connection.healthCheck };
    return this.#enter(connection.id, judgeSignal(judged, finding, this.#options.now()), {});
  }

  /** Writes what waits without delay. */
  flush(): Promise<void> {
    return this.#batch.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#batch.close();
  }

  #enter(id: string, { status, health }: Judgement, { isValid }: LedgerEntryOptions): Entered {
    const judgement = { status, health };
    this.#pending.set(id, judgement);
    const written = this.#settle(id, judgement, isValid);
    return { ...judgement, written };
  }

  async #settle(id: string, judgement: Judgement, isValid: Entry['isValid']): Promise<void> {
    try {
      await this.#batch.add({ note: { id, ...judgement }, isValid });
      this.#failureCount = 0;
    } catch (error) {
      this.#noteFailure(error);
    } finally {
      if (this.#pending.get(id) === judgement) this.#pending.delete(id);
    }
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    // Of two entries of one connection the later one knows of the earlier one.
    const newest = new Map<string, HealthNote>();
    for (const { note, isValid } of entries) if (isValid?.() ?? true) newest.set(note.id, note);
    if (newest.size > 0) await this.#options.notes.noteHealth([...newest.values()]);
  }

  #noteFailure(err: unknown): void {
    this.#failureCount += 1;
    if (this.#failureCount > 1 || Fault.from(err).code === 'cancelled') return;
    this.#options.log.warn({ err }, 'the health of connections could not be written');
  }
}
