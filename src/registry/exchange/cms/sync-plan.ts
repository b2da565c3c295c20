import type { Connection } from '../../connections/connection.ts';
import { isSame, type CmsRecord, type Fields, type UnreadRecord } from './cms-record.ts';
import { toSafeName } from '../safe-name.ts';
import { localFields, mergeFields, type Base, type MayChange, type Merge } from './sync-fields.ts';
import type { Side, SyncConflict, SyncMode } from './sync-result.ts';

/** A connection and a record that are the same server; `removedBy` is there when they are no more. */
export interface CmsLink {
  readonly recordId: string;
  readonly connectionId: string;
  readonly base: Base;
  readonly removedBy?: Side;
  /** Whether it was linked at the last sync whose listing was believed. */
  readonly isBelieved?: boolean;
}

/** One thing to do, in no order. */
export type Action =
  | { readonly do: 'create-record'; readonly connection: Connection }
  | { readonly do: 'create-connection'; readonly record: CmsRecord }
  | { readonly do: 'merge'; readonly pair: Pair; readonly merge: Merge; readonly isNew: boolean }
  | { readonly do: 'remove-record'; readonly link: CmsLink; readonly name: string }
  | { readonly do: 'disconnect'; readonly link: CmsLink; readonly connection: Connection }
  | { readonly do: 'forget'; readonly link: CmsLink; readonly by: Side };

export interface Pair {
  readonly connection: Connection;
  readonly record: CmsRecord;
  readonly local: Fields;
  readonly base: Base | undefined;
}

export interface PlanInput {
  readonly mode: SyncMode;
  readonly links: readonly CmsLink[];
  readonly records: readonly CmsRecord[];
  /** False: what is not listed may be there all the same. */
  readonly isComplete: boolean;
  /** Records that are listed and cannot be read. */
  readonly unread: readonly UnreadRecord[];
  readonly connections: readonly Connection[];
  readonly mayRemoveMany: boolean;
  /** What the CMS no longer lists is made there anew, where the CMS may be changed. */
  readonly isRestoring: boolean;
}

export interface Plan {
  readonly actions: readonly Action[];
  readonly conflicts: readonly SyncConflict[];
  /** How many linked records the CMS no longer lists, when those are too many to be believed. */
  readonly refusedRemovals: number;
  /** Connections that are not created at the CMS, because a record that cannot be read may be theirs. */
  readonly heldBack: readonly Connection[];
}

/** Decides what a sync does; changes nothing itself. */
export function planSync(input: PlanInput): Plan {
  return new Planner(input).plan();
}

class Planner {
  readonly #input: PlanInput;
  readonly #may: MayChange;
  readonly #isRestoring: boolean;
  readonly #records: ReadonlyMap<string, CmsRecord>;
  readonly #connections: ReadonlyMap<string, Connection>;
  readonly #names: ReadonlyMap<string, Connection>;
  /** Connections whose records were made anew at the CMS under other ids. */
  readonly #remade: ReadonlySet<string>;
  readonly #linked = new Set<string>();
  readonly #known = new Set<string>();
  readonly #actions: Action[] = [];
  readonly #conflicts: SyncConflict[] = [];
  readonly #heldBack: Connection[] = [];

  constructor(input: PlanInput) {
    const { mode, records, connections } = input;
    const servers = connections.filter(isLiveServer);
    this.#input = input;
    this.#may = { registry: mode !== 'push', cms: mode !== 'pull' };
    this.#isRestoring = input.isRestoring && this.#may.cms;
    this.#records = new Map(records.map((record) => [record.id, record]));
    this.#connections = new Map(servers.map((connection) => [connection.id, connection]));
    this.#names = new Map(servers.map((connection) => [connection.name, connection]));
    this.#remade = new Set(this.#findRemade());
  }

  plan(): Plan {
    const live = this.#input.links.filter(({ removedBy }) => removedBy === undefined);
    const dead = this.#input.links.filter(({ removedBy }) => removedBy !== undefined);
    // Also those whose connection is gone: forgotten on such a listing, they would come back as new.
    const lost = live.filter((link) => this.#isLost(link));
    // What was pushed to a CMS that had lost all does not make its loss a small one.
    const believedCount = live.filter(({ isBelieved }) => isBelieved === true).length;
    const isMany = lost.length > believedCount / 2;
    const isDoubted = isMany && !this.#input.mayRemoveMany && !this.#isRestoring;
    for (const link of live) this.#compareLinked(link, isDoubted);
    for (const link of dead) this.#compareRemoved(link);
    for (const record of this.#records.values()) this.#takeRecord(record);
    for (const connection of this.#connections.values()) this.#giveConnection(connection);
    return {
      actions: this.#actions,
      conflicts: this.#conflicts,
      refusedRemovals: isDoubted ? lost.length : 0,
      heldBack: this.#heldBack,
    };
  }

  /** Connections that a record means which is in no link. */
  #findRemade(): string[] {
    const { links, records } = this.#input;
    const known = new Set(links.map(({ recordId }) => recordId));
    const fresh = records.filter(({ id, isRemoved }) => !isRemoved && !known.has(id));
    return fresh.flatMap((record) => this.#matchOf(record)?.id ?? []);
  }

  /** Whether the CMS no longer lists the record, under another id neither. */
  #isLost({ connectionId, recordId }: CmsLink): boolean {
    return !this.#remade.has(connectionId) && this.#isGone(recordId);
  }

  #isGone(recordId: string): boolean {
    const record = this.#records.get(recordId);
    if (record) return record.isRemoved;
    const { isComplete, unread } = this.#input;
    // A record without an id may be any.
    return isComplete && unread.every(({ id }) => id !== undefined && id !== recordId);
  }

  #compareLinked(link: CmsLink, isDoubted: boolean): void {
    const connection = this.#connections.get(link.connectionId);
    const record = this.#records.get(link.recordId);
    this.#known.add(link.recordId);
    this.#linked.add(link.connectionId);
    if (this.#isGone(link.recordId)) {
      this.#recordGone(link, { connection, isDoubted });
    } else if (!record) {
      // On a page that did not come.
    } else if (connection) this.#merge(connection, record, link.base);
    else this.#connectionGone(link, record);
  }

  #recordGone(
    link: CmsLink,
    { connection, isDoubted }: { connection: Connection | undefined; isDoubted: boolean },
  ): void {
    if (connection && (this.#isRestoring || this.#remade.has(connection.id))) {
      this.#linked.delete(connection.id);
      this.#actions.push({ do: 'forget', link, by: 'cms' });
    } else if (isDoubted) {
      // What is there, and what was removed, is seen when the CMS lists it again.
    } else if (!connection) {
      this.#actions.push({ do: 'forget', link, by: 'cms' });
    } else if (isSame(localFields(connection), link.base.local)) {
      // A push leaves it to a sync that may change the registry; it does not undo it.
      if (this.#may.registry) this.#actions.push({ do: 'disconnect', link, connection });
    } else {
      const sides = { owner: 'cms', registry: 'changed', cms: 'removed' } as const;
      this.#presence(link, connection.name, sides);
    }
  }

  #connectionGone(link: CmsLink, record: CmsRecord): void {
    if (isUnchanged(record, link.base.remote)) {
      if (this.#may.cms) this.#actions.push({ do: 'remove-record', link, name: record.name });
      return;
    }
    const sides = { owner: 'registry', registry: 'removed', cms: 'changed' } as const;
    this.#presence(link, record.name, sides);
  }

  #presence(
    { connectionId, recordId }: CmsLink,
    name: string,
    sides: { readonly owner: Side; readonly registry: string; readonly cms: string },
  ): void {
    const conflict = { name, connectionId, recordId, field: 'presence', ...sides };
    this.#conflicts.push({ ...conflict, resolution: 'kept' });
  }

  /** A listing that is behind still has what was removed; one that has it anew means it. */
  #compareRemoved(link: CmsLink): void {
    const record = this.#records.get(link.recordId);
    if (link.removedBy !== 'registry' || !record || record.isRemoved) return;
    if (!isUnchanged(record, link.base.remote)) return;
    this.#known.add(link.recordId);
    if (this.#may.cms) this.#actions.push({ do: 'remove-record', link, name: record.name });
  }

  #takeRecord(record: CmsRecord): void {
    if (this.#known.has(record.id) || record.isRemoved) return;
    const connection = this.#matchOf(record);
    if (connection) {
      this.#linked.add(connection.id);
      this.#merge(connection, record, undefined);
    } else if (this.#may.registry) this.#actions.push({ do: 'create-connection', record });
  }

  #matchOf({ connectionId, name }: CmsRecord): Connection | undefined {
    const told = connectionId === undefined ? undefined : this.#connections.get(connectionId);
    const found = told ?? this.#names.get(name) ?? this.#names.get(toSafeName(name) ?? '');
    return found && !this.#linked.has(found.id) ? found : undefined;
  }

  #giveConnection(connection: Connection): void {
    if (this.#linked.has(connection.id) || !this.#may.cms || !this.#input.isComplete) return;
    if (this.#input.unread.some((record) => mayBeOf(record, connection))) {
      this.#heldBack.push(connection);
    } else this.#actions.push({ do: 'create-record', connection });
  }

  #merge(connection: Connection, record: CmsRecord, base: Base | undefined): void {
    const local = localFields(connection);
    const merge = mergeFields(local, record, { base, may: this.#may });
    const { id: connectionId, name } = connection;
    const pair = { connection, record, local, base };
    for (const conflict of merge.conflicts) {
      this.#conflicts.push({ name, connectionId, recordId: record.id, ...conflict });
    }
    this.#actions.push({ do: 'merge', pair, merge, isNew: base === undefined });
  }
}

function isLiveServer({ type, status }: Connection): boolean {
  return type === 'server' && status !== 'disconnected';
}

/** Whether all that a record tells is as it was. */
function isUnchanged({ fields }: CmsRecord, before: Fields): boolean {
  return Object.entries(fields).every(([field, value]) => isSame(value, before[field]));
}

/** Whether a record that cannot be read is the connection's, by what it tells. */
function mayBeOf(record: UnreadRecord, { id, name }: Connection): boolean {
  if (record.connectionId === id || record.name === name) return true;
  return record.name !== undefined && toSafeName(record.name) === name;
}
