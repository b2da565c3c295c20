import { capabilityNames } from './capability-names.ts';
import type { Connection, ConnectionChange, Directory } from './connection.ts';
import type { ConnectionState, Version } from './connection-row.ts';

/** A connection's place in the indexes, which stays while the connection changes. */
interface Entry {
  connection: Connection;
  /** Of the newest row and of the newest state: each may come before the other. */
  rowRevision: number;
  stateRevision: number;
  names: readonly string[];
}

/** The connections as this replica knows them, whichever way the news came and in what order. */
export class ConnectionDirectory implements Directory {
  readonly #entries = new Map<string, Entry>();
  readonly #byName = new Map<string, Entry>();
  readonly #offering = new Map<string, Set<Entry>>();
  readonly #listeners = new Set<(change: ConnectionChange) => void>();
  readonly #onError: (error: unknown) => void;
  /** Undefined while one came that sorts before another. */
  #sorted: Entry[] | undefined = [];
  #openCount = 0;

  /** `onError` is told what a listener threw. */
  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Those that are not disconnected. */
  get openCount(): number {
    return this.#openCount;
  }

  find(id: string): Connection | undefined {
    return this.#entries.get(id)?.connection;
  }

  findByName(name: string): Connection | undefined {
    return this.#byName.get(name)?.connection;
  }

  *all(): Generator<Connection, void, undefined> {
    this.#sorted ??= [...this.#entries.values()].toSorted(byId);
    for (const { connection } of this.#sorted) yield connection;
  }

  *offering(capability: string): Generator<Connection, void, undefined> {
    for (const { connection } of this.#offering.get(capability) ?? []) yield connection;
  }

  /** How many `offering` would give. */
  countOffering(capability: string): number {
    return this.#offering.get(capability)?.size ?? 0;
  }

  capabilities(): Iterable<string> {
    return this.#offering.keys();
  }

  /** What a connection declares and offers, by name; found once for each change. */
  namesOf(id: string): readonly string[] {
    return this.#entries.get(id)?.names ?? [];
  }

  /** Whether this row, or a newer one of the same connection, was taken over. */
  hasRow({ id, revision }: Version): boolean {
    return this.rowRevisionOf(id) >= revision;
  }

  /** Of the newest row that was taken over, states apart; 0 for none. */
  rowRevisionOf(id: string): number {
    return this.#entries.get(id)?.rowRevision ?? 0;
  }

  onChange(listener: (change: ConnectionChange) => void): () => void {
    // Of its own, so that one listener given twice can be taken back once.
    const own = (change: ConnectionChange) => listener(change);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Takes over a connection as a row has it, unless a newer one is known. */
  put(connection: Connection): void {
    const { id, revision } = connection;
    const entry = this.#entries.get(id);
    if (!entry) {
      this.#insert(connection);
      return;
    }
    if (revision <= entry.rowRevision) return;
    const isStateNewer = entry.stateRevision > revision;
    entry.rowRevision = revision;
    entry.stateRevision = Math.max(entry.stateRevision, revision);
    const { connection: before } = entry;
    this.#change(entry, isStateNewer ? { ...connection, ...stateOf(before) } : connection);
  }

  /** Takes over what changed of a connection; news of one that is not known yet are left alone. */
  apply(state: ConnectionState): void {
    const entry = this.#entries.get(state.id);
    if (!entry || state.revision <= entry.stateRevision) return;
    entry.stateRevision = state.revision;
    const { status, health, lastActiveAtMs, disconnectedAtMs } = state;
    const { disconnectedAtMs: _before, ...kept } = entry.connection;
    const revision = Math.max(kept.revision, state.revision);
    const ended = disconnectedAtMs === null ? {} : { disconnectedAtMs };
    this.#change(entry, { ...kept, status, health, lastActiveAtMs, revision, ...ended });
  }

  /** Forgets a connection that was disconnected long ago; no listener hears of it. */
  remove({ id, revision }: Version): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.connection.revision > revision) return;
    this.#leaveIndexes(entry);
    this.#entries.delete(id);
    this.#sorted = undefined;
  }

  #insert(connection: Connection): void {
    const { id, revision } = connection;
    const names = capabilityNames(connection);
    const entry = { connection, rowRevision: revision, stateRevision: revision, names };
    const last = this.#sorted?.at(-1);
    if (last && last.connection.id > id) this.#sorted = undefined;
    this.#sorted?.push(entry);
    this.#entries.set(id, entry);
    this.#joinIndexes(entry);
    this.#tell({ before: undefined, after: connection });
  }

  #change(entry: Entry, after: Connection): void {
    const before = entry.connection;
    const isSame =
      isOpen(before) === isOpen(after) &&
      before.name === after.name &&
      before.declared === after.declared &&
      before.offer === after.offer;
    if (!isSame) this.#leaveIndexes(entry);
    entry.connection = after;
    if (!isSame) {
      entry.names = capabilityNames(after);
      this.#joinIndexes(entry);
    }
    this.#tell({ before, after });
  }

  #joinIndexes(entry: Entry): void {
    if (!isOpen(entry.connection)) return;
    this.#openCount += 1;
    this.#byName.set(entry.connection.name, entry);
    for (const name of entry.names) {
      const known = this.#offering.get(name);
      if (known) known.add(entry);
      else this.#offering.set(name, new Set([entry]));
    }
  }

  #leaveIndexes(entry: Entry): void {
    const { connection, names } = entry;
    if (!isOpen(connection)) return;
    this.#openCount -= 1;
    // Another may have the name by now: news of its end may come after those of the next one.
    if (this.#byName.get(connection.name) === entry) this.#byName.delete(connection.name);
    for (const name of names) {
      const known = this.#offering.get(name);
      known?.delete(entry);
      if (known?.size === 0) this.#offering.delete(name);
    }
  }

  #tell(change: ConnectionChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

function isOpen({ status }: Connection): boolean {
  return status !== 'disconnected';
}

function byId(one: Entry, other: Entry): number {
  return one.connection.id < other.connection.id ? -1 : 1;
}

function stateOf(connection: Connection) {
  const { status, health, lastActiveAtMs, disconnectedAtMs, revision } = connection;
  const ended = disconnectedAtMs === undefined ? {} : { disconnectedAtMs };
  return { status, health, lastActiveAtMs, revision, ...ended };
}
