import type { Database } from '../database/database.ts';
import type { Bus } from './bus.ts';

/** How often memory is brought up to date with tables whose other writers no bus tells of. */
export const rereadMs = 2_000;

/** Whether other processes may write to the tables, and no bus connects this one with them now. */
export function hasUnheardWriters(
  bus: Pick<Bus, 'kind' | 'isConnected'>,
  database: Pick<Database, 'dialect'>,
): boolean {
  return (bus.kind === 'local' || !bus.isConnected) && database.dialect === 'postgres';
}

/**
 * Has tables looked at every 2 s while there are unheard writers, and once more when a bus connects them
 * again: who could not tell may be gone by then. Ends when it is disposed of.
 */
export class UnheardWritersWatch implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #wereUnheard = false;

  constructor(areUnheard: () => boolean, look: () => void) {
    this.#timer = setInterval(() => {
      const are = areUnheard();
      if (are || this.#wereUnheard) look();
      this.#wereUnheard = are;
    }, rereadMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
