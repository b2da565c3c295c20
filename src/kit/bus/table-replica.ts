import type { Log } from '../log.ts';
import type { Retention, Subscription, Topic } from './bus.ts';
import { RevisionMarks } from './revision-marks.ts';
import { UnheardWritersWatch } from './unheard-writers.ts';

/** What a replica has written to a table, for the others to take over. */
export interface TableNews<Row, State, Version> {
  readonly rows?: readonly Row[];
  /** Rows that are too large for the bus: they stand in the table. */
  readonly large?: readonly Version[];
  readonly states?: readonly State[];
  readonly removals?: readonly Version[];
}

/** What a table holds that a replica may not have heard of. */
export interface TableChanges<Row, State, Version> {
  /** Its states, and as `large` the rows that memory must have. */
  readonly news: TableNews<Row, State, Version>;
  /** How many rows there are. */
  readonly count: number;
}

/** A table of which every replica holds all rows in memory. Of two versions the newer one holds. */
export interface ReplicatedTable<Row extends Version, State, Version> {
  /** What its rows are, for the log: `agents`. */
  readonly what: string;
  /** Whether others may write to it now and the bus does not tell of it: then it is read every 2 s. */
  readonly hasUnheardWriters: () => boolean;
  idOf(item: State | Version): string;
  /** As it is now, apart from what may change. */
  versionOf(item: Version): Version;
  /** All that is in memory. */
  held(): Iterable<Version>;
  readonly size: number;
  /** Whether this version or a newer one is in memory. */
  holds(version: Version): boolean;
  /** Takes over a row, unless a newer version is known. */
  put(row: Row): void;
  apply(state: State): void;
  remove(version: Version): void;
  /** The rows with these ids, of 200 at most. */
  read(ids: readonly string[]): Promise<readonly Row[]>;
  /** The next rows behind an id, by id. */
  readPage(afterId: string): Promise<readonly Row[]>;
  /** The newest revision that was given out, to a change or a removal; a cheap question. */
  readLastRevision(): Promise<number>;
  /** What has a higher revision. */
  readChanges(afterRevision: number): Promise<TableChanges<Row, State, Version>>;
}

/** How much of its news a topic has to keep: little, because who has missed more reads the table again. */
export const newsRetention: Retention = { retainCount: 500, retainSeconds: 300 };

/** Well below what an event may hold. */
const eventLengthMax = 128 * 1024;
/** So many rows are read at once; each may hold much. */
const readMax = 200;
const removalsMax = 500;

/**
 * Keeps a table's rows in memory like those of every other replica: it begins with what the table
 * holds, takes over what others tell, and tells again, from the table, what the bus had not taken.
 * While no bus connects the replicas, and once when one does again, `reread` brings what changed.
 */
export class TableReplica<Row extends Version, State, Version> implements AsyncDisposable {
  readonly #table: ReplicatedTable<Row, State, Version>;
  readonly #topic: Topic<TableNews<Row, State, Version>>;
  readonly #log: Log;
  /** What the bus had not taken of this replica's news. */
  readonly #untold = new Set<string>();
  readonly #untoldRemovals = new Map<string, Version>();
  readonly #marks = new RevisionMarks();
  #watch: UnheardWritersWatch | undefined;
  #rereading: Promise<void> | undefined;
  #subscription: Subscription | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(
    table: ReplicatedTable<Row, State, Version>,
    topic: Topic<TableNews<Row, State, Version>>,
    log: Log,
  ) {
    this.#table = table;
    this.#topic = topic;
    this.#log = log;
  }

  /** Resolves when memory holds what the table did. */
  async start(): Promise<void> {
    // First, so that nothing lies between what is read and what is heard.
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#takeOver(data), {
      after: await this.#topic.lastSeq(),
      onGap: () => this.#queue(() => this.#reload()),
    });
    await this.#reload();
    this.#watch = new UnheardWritersWatch(
      () => this.#table.hasUnheardWriters(),
      () => void this.reread(),
    );
  }

  /** Takes news over here and tells the others; what they missed is told by the next `catchUp`. */
  tell(news: TableNews<Row, State, Version>): void {
    this.#takeOver(news);
    for (const event of this.#split(news)) {
      this.#topic.publish(event).catch((err: unknown) => {
        this.#log.warn({ err }, `other replicas could not be told of ${this.#table.what}`);
        this.#remember(event);
      });
    }
  }

  /** Takes over rows that were read from the table. */
  takeOver(rows: readonly Row[]): void {
    for (const row of rows) this.#table.put(row);
  }

  /** Tells what could not be told. */
  catchUp(): Promise<void> {
    if (this.#untold.size > 0 || this.#untoldRemovals.size > 0) {
      this.#queue(() => this.#tellAgain());
    }
    return this.#working;
  }

  /** Takes over what changed in the table, removals included; one reading at a time. */
  reread(): Promise<void> {
    if (!this.#rereading) {
      this.#queue(() => this.#readChanges());
      this.#rereading = this.#working.finally(() => {
        this.#rereading = undefined;
      });
    }
    return this.#rereading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch?.[Symbol.dispose]();
    await this.#subscription?.close();
    await this.#working;
  }

  /** One piece of work after the other; failures are logged. */
  #queue(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((err: unknown) => {
      this.#log.error({ err }, `${this.#table.what} could not be read again`);
    });
  }

  async #tellAgain(): Promise<void> {
    const ids = [...this.#untold].slice(0, readMax);
    const removals = [...this.#untoldRemovals.values()].slice(0, removalsMax);
    try {
      const rows = ids.length > 0 ? await this.#table.read(ids) : [];
      for (const event of this.#split({ rows, removals })) await this.#topic.publish(event);
      for (const id of ids) this.#untold.delete(id);
      for (const removal of removals) this.#untoldRemovals.delete(this.#table.idOf(removal));
    } catch (err) {
      this.#log.debug({ err }, `other replicas still cannot be told of ${this.#table.what}`);
    }
  }

  #remember({ rows = [], large = [], states = [], removals = [] }: TableNews<Row, State, Version>) {
    const table = this.#table;
    for (const item of [...rows, ...large, ...states]) this.#untold.add(table.idOf(item));
    for (const removal of removals) this.#untoldRemovals.set(table.idOf(removal), removal);
  }

  #takeOver({ rows = [], large = [], states = [], removals = [] }: TableNews<Row, State, Version>) {
    const table = this.#table;
    this.takeOver(rows);
    for (const state of states) table.apply(state);
    for (const removal of removals) table.remove(removal);
    for (const some of this.#lackedOf(large)) {
      this.#queue(async () => this.takeOver(await table.read(some)));
    }
  }

  /** The ids of rows that memory does not have, in portions that are read at once. */
  #lackedOf(versions: readonly Version[]): string[][] {
    const table = this.#table;
    const lacked = versions.filter((version) => !table.holds(version));
    return portionsOf(lacked.map((one) => table.idOf(one)));
  }

  async #readChanges(): Promise<void> {
    const table = this.#table;
    const last = await table.readLastRevision();
    await this.#marks.goOn(last, async (afterRevision) => {
      const { news, count } = await table.readChanges(afterRevision);
      await this.#takeOverRead(news);
      if (table.size > count) await this.#removeDeleted();
    });
  }

  async #takeOverRead({ states = [], large = [] }: TableNews<Row, State, Version>): Promise<void> {
    const table = this.#table;
    for (const state of states) table.apply(state);
    for (const some of this.#lackedOf(large)) this.takeOver(await table.read(some));
  }

  async #removeDeleted(): Promise<void> {
    const unseen = this.#heldVersions();
    const { news } = await this.#table.readChanges(0);
    for (const version of news.large ?? []) unseen.delete(this.#table.idOf(version));
    for (const version of unseen.values()) this.#table.remove(version);
  }

  #heldVersions(): Map<string, Version> {
    const table = this.#table;
    const versions = new Map<string, Version>();
    for (const item of table.held()) versions.set(table.idOf(item), table.versionOf(item));
    return versions;
  }

  /** Those that are in memory and not in the table have gone unheard. */
  async #reload(): Promise<void> {
    const table = this.#table;
    const unseen = this.#heldVersions();
    let afterId = '';
    for (;;) {
      const rows = await table.readPage(afterId);
      const last = rows.at(-1);
      if (!last) break;
      this.takeOver(rows);
      for (const row of rows) unseen.delete(table.idOf(row));
      afterId = table.idOf(last);
    }
    for (const version of unseen.values()) table.remove(version);
  }

  /** The same news in events that the bus takes. */
  #split(news: TableNews<Row, State, Version>): TableNews<Row, State, Version>[] {
    const large: Version[] = [];
    const rows = joinSmall(news.rows ?? [], (row) => void large.push(this.#table.versionOf(row)));
    return [
      ...rows.map((some) => ({ rows: some })),
      ...joinSmall([...(news.large ?? []), ...large]).map((some) => ({ large: some })),
      ...joinSmall(news.states ?? []).map((some) => ({ states: some })),
      ...joinSmall(news.removals ?? []).map((some) => ({ removals: some })),
    ];
  }
}

/** Joins items up to what an event may hold; one that alone is more is told to `onLarge`, if given. */
function joinSmall<T>(items: readonly T[], onLarge?: (item: T) => void): T[][] {
  const joined: T[][] = [];
  let length = eventLengthMax;
  for (const item of items) {
    const own = JSON.stringify(item).length;
    if (onLarge && own > eventLengthMax) {
      onLarge(item);
      continue;
    }
    if (length + own > eventLengthMax) {
      joined.push([]);
      length = 0;
    }
    length += own;
    joined.at(-1)?.push(item);
  }
  return joined;
}

function portionsOf(ids: readonly string[]): string[][] {
  const count = Math.ceil(ids.length / readMax);
  return Array.from({ length: count }, (_, at) => ids.slice(at * readMax, (at + 1) * readMax));
}
