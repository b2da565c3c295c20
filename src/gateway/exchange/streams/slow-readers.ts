/** A caller for whom parts of an answer wait in memory. */
export interface SlowReader {
  /** 0 once it has caught up or gone. */
  readonly waitingBytes: number;
  /** Ends its connection at once, so that nothing waits for it any more. */
  drop(): void;
}

/** So much has to wait anew before all are looked at again. */
const lookEveryBytes = 1024 * 1024;

/**
 * Bounds what waits in memory for all callers who read slowly, together: beyond it the one for whom most
 * waits is dropped.
 */
export class SlowReaders {
  readonly #bytesMax: number;
  readonly #readers = new Set<SlowReader>();
  #freshBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A piece has to wait for its reader. */
  note(reader: SlowReader, bytes: number): void {
    this.#readers.add(reader);
    this.#freshBytes += bytes;
    if (this.#freshBytes < lookEveryBytes) return;
    this.#freshBytes = 0;
    this.#bound();
  }

  #bound(): void {
    let total = 0;
    let most = { reader: undefined as SlowReader | undefined, bytes: 0 };
    for (const reader of this.#readers) {
      const bytes = reader.waitingBytes;
      if (bytes === 0) this.#readers.delete(reader);
      if (bytes > most.bytes) most = { reader, bytes };
      total += bytes;
    }
    if (total > this.#bytesMax) most.reader?.drop();
  }
}
