import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { ConnectionRow } from './connection-row.ts';
import { disconnectAll, type ConnectionSql, type Departure } from './connection-store.ts';

export interface DeparturesOptions {
  readonly sql: ConnectionSql;
  /** Told of what was disconnected, before those who asked for it. */
  readonly onStored: (rows: readonly ConnectionRow[]) => void;
}

/** Disconnects connections, those that go together in one statement. */
export class Departures implements AsyncDisposable {
  readonly #options: DeparturesOptions;
  readonly #batch: Batch<Departure>;

  constructor(options: DeparturesOptions) {
    this.#options = options;
    this.#batch = createBatch<Departure>({
      flush: (departures) => this.#store(departures),
      maxItems: 200,
      maxDelayMs: 2,
      maxPending: 20_000,
    });
  }

  /** Resolves once it is stored. */
  add(departure: Departure): Promise<void> {
    return this.#batch.add(departure);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }

  async #store(departures: readonly Departure[]): Promise<void> {
    const { sql, onStored } = this.#options;
    // Of several who end the same connection the first one does.
    const first = new Map(departures.toReversed().map((one) => [one.id, one]));
    const rows = await disconnectAll(sql, [...first.values()]);
    if (rows.length > 0) onStored(rows);
  }
}
