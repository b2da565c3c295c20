import type { RunJournal, WriteState } from './run-journal.ts';
import type { Turns } from '../replicas/turns.ts';

export interface RunPaceParts {
  readonly journal: RunJournal;
  readonly turns: Turns;
  readonly goOn: () => void;
  /** What was said is not taken any more. */
  readonly lose: (state: Exclude<WriteState, 'stored'>) => void;
}

/** How fast a run goes on: no faster than the database takes what it says, and not alone in the process. */
export class RunPace {
  readonly #parts: RunPaceParts;
  #barrierCount = 0;
  #isDraining = false;
  #isScheduled = false;

  constructor(parts: RunPaceParts) {
    this.#parts = parts;
  }

  /** Whether something must be stored before anything further begins. */
  get hasBarrier(): boolean {
    return this.#barrierCount > 0;
  }

  /** Whether the rest of the process, or the database, has to come first. */
  get mustPause(): boolean {
    const { journal, turns } = this.#parts;
    return this.#isDraining || journal.isBehind || turns.isUp;
  }

  /** Begins nothing further. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Nothing further begins until what was said is stored; it is written with what this turn adds. */
  raiseBarrier(onStored?: () => void): void {
    this.#barrierCount += 1;
    queueMicrotask(() => void this.#passBarrier(onStored));
  }

  /** Has what was said stored. */
  async write(): Promise<void> {
    const { journal, goOn, lose } = this.#parts;
    const wasBehind = journal.isBehind;
    const state = await journal.write();
    if (state !== 'stored') lose(state);
    else if (wasBehind) goOn();
  }

  /** For what this turn of the event loop had no more time; what waits for the database goes on behind it. */
  goOnLater(): void {
    const { journal, turns, goOn } = this.#parts;
    if (this.#isDraining || journal.isBehind || this.#isScheduled) return;
    this.#isScheduled = true;
    turns.later(() => {
      this.#isScheduled = false;
      goOn();
    });
  }

  async #passBarrier(onStored = () => {}): Promise<void> {
    const { journal, goOn, lose } = this.#parts;
    const state = await journal.write();
    this.#barrierCount -= 1;
    if (state !== 'stored') return lose(state);
    onStored();
    goOn();
  }
}
