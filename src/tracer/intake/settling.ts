import type { NamedChunks } from './messages.ts';

/**
 * Knows which open traces have spans that no row of theirs names, and makes who wants to read them wait
 * until the thread has had the rows written.
 */
export class Settling {
  readonly #ask: (id: number, traceId: string | undefined) => void;
  /** By trace, how many chunks its rows do not name. */
  readonly #owed = new Map<string, number>();
  readonly #waiting = new Map<number, () => void>();
  #lastId = 0;

  constructor(ask: (id: number, traceId: string | undefined) => void) {
    this.#ask = ask;
  }

  /** A chunk was stored without rows. */
  noteChunk(traceIds: readonly string[]): void {
    for (const traceId of traceIds) this.#owed.set(traceId, (this.#owed.get(traceId) ?? 0) + 1);
  }

  /** Rows that name chunks were stored. */
  noteNamed(named: readonly NamedChunks[]): void {
    for (const { traceId, chunks } of named) {
      const left = (this.#owed.get(traceId) ?? 0) - chunks.length;
      if (left > 0) this.#owed.set(traceId, left);
      else this.#owed.delete(traceId);
    }
  }

  /** They will have no rows. */
  forget(traceIds: readonly string[]): void {
    for (const traceId of traceIds) this.#owed.delete(traceId);
  }

  /** Resolves once all that was stored of open traces, or of one, can be read in their rows. */
  async settle(traceId?: string): Promise<void> {
    const isSettled = traceId === undefined ? this.#owed.size === 0 : !this.#owed.has(traceId);
    if (isSettled) return;
    this.#lastId += 1;
    const id = this.#lastId;
    await new Promise<void>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#ask(id, traceId);
    });
  }

  noteSettled(id: number): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }

  /** Nobody will answer any more. */
  clear(): void {
    this.#owed.clear();
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }
}
