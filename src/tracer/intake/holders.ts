import { randomUUID } from 'node:crypto';
import type { Database } from '../../kit/database/database.ts';
import type { Log } from '../../kit/log.ts';
import { listHeld, noteLeft, noteSeen, takeOver } from './holder-store.ts';

export interface HoldersOptions {
  readonly database: Database;
  readonly log: Log;
  /** Told of open traces that this process holds from now on. */
  readonly onTakenOver: (traceIds: readonly string[]) => void;
}

const beatMs = 2_000;

/**
 * Tells the other processes that this one is there, and takes over the open traces of those that are gone.
 * A process that was only slow loses nothing: whoever completes a trace first has completed it.
 */
export class Holders implements AsyncDisposable {
  /** Of this process, in the rows of the open traces that it holds. */
  readonly id = randomUUID();
  readonly #options: HoldersOptions;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isBeating = false;

  constructor(options: HoldersOptions) {
    this.#options = options;
  }

  /** Again when what this process held is not in its memory any more: then it is told of that, too. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (!this.#isBeating) this.#next(() => this.#beat());
    }, beatMs);
    this.#timer.unref();
    this.#next(async () => {
      this.#tell(await listHeld(this.#options.database, this.id));
      await this.#beat();
    });
  }

  /** Its open traces are the others' from now on. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#next(() => noteLeft(this.#options.database, this.id));
    await this.#beating;
  }

  #next(work: () => Promise<void>): void {
    this.#isBeating = true;
    this.#beating = this.#beating
      .then(work)
      .catch((error: unknown) => {
        this.#options.log.warn({ err: error }, 'who holds which open traces cannot be looked at');
      })
      .finally(() => {
        this.#isBeating = false;
      });
  }

  async #beat(): Promise<void> {
    const { database } = this.#options;
    if (await noteSeen(database, this.id)) this.#tell(await takeOver(database, this.id));
  }

  #tell(traceIds: readonly string[]): void {
    if (traceIds.length > 0) this.#options.onTakenOver(traceIds);
  }
}
