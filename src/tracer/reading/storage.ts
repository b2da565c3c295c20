import type { Database } from '../../kit/database/database.ts';
import { shownFrom } from './listing.ts';
import { readStorage, type StorageFigures } from './storage-store.ts';

const freshMs = 5_000;

/** The storage figures, counted at most every five seconds however often they are asked for. */
export class Storage {
  readonly #database: Database;
  #counting: Promise<StorageFigures> | undefined;
  #countedAt = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  figures(): Promise<StorageFigures> {
    if (!this.#counting || performance.now() - this.#countedAt > freshMs) {
      this.#countedAt = performance.now();
      const counting = readStorage(this.#database, shownFrom(Date.now()).oldestDay);
      counting.catch(() => (this.#counting = undefined));
      this.#counting = counting;
    }
    return this.#counting;
  }
}
