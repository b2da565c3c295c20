import { isDeepStrictEqual } from 'node:util';
import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { toStorable } from '../../kit/storable-json.ts';
import type { Offer } from '../links/link.ts';
import { digestsOf } from '../links/pins.ts';
import type { Acceptance, Connection, ConnectionNotes, HealthNote, Learned } from './connection.ts';
import type { ConnectionRow, ConnectionState } from './connection-row.ts';
import { noteHealth, noteLearned, type ConnectionSql } from './connection-store.ts';
import type { ConnectionDirectory } from './directory.ts';
import type { HistoryNote } from './history.ts';
import type { RequestLog } from './request-log.ts';

export interface NotesOptions {
  readonly sql: ConnectionSql;
  readonly directory: ConnectionDirectory;
  readonly requests: RequestLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of what the table has taken. */
  readonly onStates: (states: readonly ConnectionState[]) => void;
  readonly onRows: (rows: readonly ConnectionRow[]) => void;
}

interface LearnedNote extends Learned {
  readonly id: string;
  readonly acceptances: readonly Acceptance[];
}

const batchSize = { maxItems: 1_000, maxDelayMs: 5, maxPending: 100_000 };
/** What is learned may measure megabytes. */
const learnedBatchSize = { maxItems: 50, maxDelayMs: 5, maxPending: 20_000 };
/** More names of tools than these are only counted in the history. */
const namesMax = 50;

/** Writes what checks and calls find, what comes together in one statement. */
export class Notes implements ConnectionNotes, AsyncDisposable {
  readonly #options: NotesOptions;
  readonly #health: Batch<HealthNote>;
  readonly #learned: Batch<LearnedNote>;

  constructor(options: NotesOptions) {
    this.#options = options;
    this.#health = createBatch({ ...batchSize, flush: (notes) => this.#writeHealth(notes) });
    this.#learned = createBatch({
      ...learnedBatchSize,
      flush: (notes) => this.#writeLearned(notes),
    });
  }

  async noteHealth(notes: readonly HealthNote[]): Promise<void> {
    await Promise.all(notes.map((note) => this.#health.add(note)));
  }

  async noteLearned(id: string, learned: Learned, acceptance?: Acceptance): Promise<void> {
    const known = this.#options.directory.find(id);
    const storable: Learned = JSON.parse(toStorable(JSON.stringify(learned)));
    if (known && !acceptance && isKnown(known, storable)) return;
    await this.#learned.add({ ...storable, id, acceptances: acceptance ? [acceptance] : [] });
  }

  noteActive(id: string): Promise<void> | undefined {
    return this.#options.requests.note(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#health.close(), this.#learned.close()]);
  }

  async #writeHealth(notes: readonly HealthNote[]): Promise<void> {
    const { sql, now, onStates } = this.#options;
    const atMs = now();
    // The newest of each: a statement changes a row once.
    const newest = new Map(notes.map((note) => [note.id, { ...note, atMs }]));
    onStates(await noteHealth(sql, [...newest.values()]));
  }

  async #writeLearned(notes: readonly LearnedNote[]): Promise<void> {
    const { sql, directory, now, onRows } = this.#options;
    const merged = new Map<string, LearnedNote>();
    for (const note of notes) {
      const earlier = merged.get(note.id);
      const acceptances = [...(earlier?.acceptances ?? []), ...note.acceptances];
      merged.set(note.id, { ...earlier, ...note, acceptances });
    }
    const learned = [...merged.values()];
    const atMs = now();
    const history = learned.flatMap((note) => {
      const before = directory.find(note.id);
      return [
        ...describeTools(before, note, atMs),
        ...describeFlaws(before, note, atMs),
        ...describeAcceptances(note, atMs),
      ];
    });
    onRows(await noteLearned(sql, learned, history));
  }
}

/** Whether nothing of it is new: servers are asked far more often than they change. */
function isKnown(connection: Connection, learned: Learned): boolean {
  const { offer, server, pins, quarantined } = connection;
  const known = { offer, server, pins, quarantined };
  return Object.entries(learned).every(([name, value]) =>
    isDeepStrictEqual(value, Reflect.get(known, name)),
  );
}

/** Which tools came, went or became others, and which are quarantined by now. */
function describeTools(
  before: Connection | undefined,
  { id, offer, quarantined }: LearnedNote,
  atMs: number,
): HistoryNote[] {
  const known = digestsByName(before?.offer);
  const now = offer ? digestsByName(offer) : known;
  const added = [...now.keys()].filter((name) => !known.has(name));
  const removed = [...known.keys()].filter((name) => !now.has(name));
  const changed = [...now.keys()].filter(
    (name) => known.has(name) && known.get(name) !== now.get(name),
  );
  const isHeld = quarantined !== undefined && !isDeepStrictEqual(quarantined, before?.quarantined);
  if (added.length + removed.length + changed.length === 0 && !isHeld) return [];
  const detail = {
    count: now.size,
    added: added.slice(0, namesMax),
    removed: removed.slice(0, namesMax),
    changed: changed.slice(0, namesMax),
    ...(isHeld ? { quarantined: quarantined.slice(0, namesMax) } : {}),
  };
  return [{ id, atMs, change: 'tools', detail }];
}

function digestsByName(offer: Offer | undefined): ReadonlyMap<string, string> {
  return new Map(Object.entries(digestsOf(offer?.tools ?? [])));
}

/** Who agreed to which tools; who agrees to what nothing has changed of leaves no trace. */
function describeAcceptances({ id, acceptances }: LearnedNote, atMs: number): HistoryNote[] {
  return acceptances
    .filter(({ tools }) => tools.length > 0)
    .map(({ by, tools }) => {
      const detail = { count: tools.length, tools: tools.slice(0, namesMax) };
      return { id, atMs, by, change: 'accepted', detail };
    });
}

/** Which lists of the server could not be read, or only in part; none when all can be again. */
function describeFlaws(
  before: Connection | undefined,
  { id, offer }: LearnedNote,
  atMs: number,
): HistoryNote[] {
  if (!offer) return [];
  const { flaws = [] } = offer;
  if (isDeepStrictEqual(flaws, before?.offer?.flaws ?? [])) return [];
  return [{ id, atMs, change: 'lists', reason: flaws[0]?.reason, detail: { flaws } }];
}
