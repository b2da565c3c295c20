import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../../kit/errors.ts';
import type { Identity } from '../../../kit/identity/identity.ts';
import type { Directory } from '../../connections/connection.ts';
import type { CmsClient } from './cms-client.ts';
import type { CmsRecord } from './cms-record.ts';
import { believeLinks, readLinks, saveLinks, saveTag, type CmsSql } from './cms-store.ts';
import { nameTaken } from '../../connections/enrolment.ts';
import { pushHealth } from './health-push.ts';
import { newConnectionOf } from './new-connection.ts';
import type { Registrar } from '../registrar.ts';
import { toSafeName } from '../safe-name.ts';
import {
  bundlesField,
  changedBody,
  localFields,
  toBody,
  toMetadata,
  withChanges,
  type Base,
} from './sync-fields.ts';
import { planSync, type Action, type CmsLink, type Plan } from './sync-plan.ts';
import { isLikeBases, isLiveLink, readListing, type Listed } from './sync-listing.ts';
import { SyncReport } from './sync-report.ts';
import type { SyncMode, SyncResult } from './sync-result.ts';

export interface SyncRunParts {
  readonly sql: CmsSql;
  readonly directory: Pick<Directory, 'all' | 'find'>;
  readonly registrar: Registrar;
  readonly client: CmsClient;
  readonly signal: AbortSignal;
  /** In whose name connections are made; holds no more than `registry:write`. */
  readonly author: Identity;
}

export interface SyncRunOptions {
  readonly syncId: string;
  readonly cms: string;
  readonly direction: SyncMode;
  readonly isDryRun: boolean;
  readonly mayRemoveMany: boolean;
  readonly isRestoring: boolean;
}

/** Changes that are under way at a time. */
const atOnce = 4;

type ActionOf<Name extends Action['do']> = Extract<Action, { readonly do: Name }>;

/** One sync from its listing to its report. */
export class SyncRun {
  readonly #parts: SyncRunParts;
  readonly #options: SyncRunOptions;
  readonly #report: SyncReport;
  readonly #saved = new Map<string, CmsLink>();
  /** Names that a dry run has found free. */
  readonly #wouldTake = new Set<string>();

  constructor(parts: SyncRunParts, options: SyncRunOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#report = new SyncReport(options);
  }

  async run(): Promise<SyncResult> {
    const { sql, directory } = this.#parts;
    const { cms, direction: mode, isDryRun, mayRemoveMany, isRestoring } = this.#options;
    const links = await readLinks(sql, cms);
    const listed = await readListing(this.#parts, { cms, links, report: this.#report });
    const { records, isComplete, unread } = listed;
    const connections = [...directory.all()];
    const may = { mayRemoveMany, isRestoring };
    const plan = planSync({ mode, links, records, isComplete, unread, connections, ...may });
    this.#noteRefusals(plan);
    try {
      await this.#doAll(plan.actions);
    } finally {
      if (!isDryRun) await saveLinks(sql, cms, [...this.#saved.values()]);
    }
    if (isDryRun) return this.#report.result();
    if (isComplete && plan.refusedRemovals === 0) await believeLinks(sql, cms);
    await this.#finish(links, listed);
    return this.#report.result();
  }

  #noteRefusals({ conflicts, refusedRemovals, heldBack }: Plan): void {
    for (const conflict of conflicts) this.#report.conflict(conflict);
    for (const { name } of heldBack) {
      const sentence = 'the CMS lists a record that may be this connection and cannot be read';
      const fault = new Fault('conflict', sentence, { reason: 'record_unreadable' });
      this.#report.fail({ stage: 'create', side: 'cms', name }, fault);
    }
    if (refusedRemovals === 0) return;
    const sentence = `the CMS no longer lists ${refusedRemovals} of what is linked, and is not believed: "allowMassRemoval" has it count as removed`;
    const fault = new Fault('conflict', sentence, { reason: 'mass_removal' });
    this.#report.fail({ stage: 'remove', side: 'registry' }, fault);
  }

  async #doAll(actions: readonly Action[]): Promise<void> {
    const waiting = actions.values();
    const work = async (): Promise<void> => {
      for (const action of waiting) await this.#do(action);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  #do(action: Action): Promise<void> {
    switch (action.do) {
      case 'create-record':
        return this.#createRecord(action);
      case 'create-connection':
        return this.#createConnection(action);
      case 'merge':
        return this.#merge(action);
      case 'remove-record':
        return this.#removeRecord(action);
      case 'disconnect':
        return this.#disconnect(action);
      default:
        this.#save({ ...action.link, removedBy: action.by });
        return Promise.resolve();
    }
  }

  async #createRecord({ connection }: ActionOf<'create-record'>): Promise<void> {
    const { id: connectionId, name } = connection;
    const change = { action: 'create', side: 'cms', name, connectionId } as const;
    await this.#attempt(change, async () => {
      const local = localFields(connection);
      const body = { ...toBody(local), type: 'server', connectionId };
      const { id: recordId, record } = await this.#parts.client.create(connectionId, body);
      this.#save({ recordId, connectionId, base: { local, remote: keptOf(local, record) } });
    });
  }

  async #createConnection({ record }: ActionOf<'create-connection'>): Promise<void> {
    const { id: recordId } = record;
    const name = toSafeName(record.name) ?? record.name;
    const change = { action: 'create', side: 'registry', name, recordId } as const;
    const { registrar, author } = this.#parts;
    const work = async () => {
      const connection = await registrar.register(newConnectionOf(record), author);
      const base = { local: localFields(connection), remote: record.fields };
      this.#save({ recordId, connectionId: connection.id, base });
    };
    await this.#attempt(change, work, async () => {
      // Of two records whose names become one, the second is refused as it would be.
      if (this.#wouldTake.has(name)) throw nameTaken(name);
      this.#wouldTake.add(name);
      await registrar.check(newConnectionOf(record), author);
    });
  }

  async #merge({ pair, merge, isNew }: ActionOf<'merge'>): Promise<void> {
    const { connection, record, local, base } = pair;
    const { id: connectionId, name } = connection;
    const about = { name, connectionId, recordId: record.id };
    const next = new NextBase(base ?? { local: {}, remote: {} });
    next.keep(merge.settled, local, record.fields);
    if (isNew) this.#report.change({ action: 'link', side: 'both', ...about });
    await this.#toRegistry({ pair, merge, about, next });
    await this.#toCms({ pair, merge, about, next });
    const found = next.base();
    if (!isNew && base && isDeepStrictEqual(found, base)) return;
    this.#save({ recordId: record.id, connectionId, base: found });
  }

  async #toRegistry({ pair, merge, about, next }: Merging): Promise<void> {
    const { toRegistry } = merge;
    if (toRegistry.size === 0) return;
    const fields = [...toRegistry.keys()];
    await this.#attempt({ action: 'update', side: 'registry', ...about, fields }, async () => {
      const { registrar, author } = this.#parts;
      const metadata = toMetadata(toRegistry);
      const updated = await registrar.update(pair.connection.id, { metadata }, author);
      next.keep(fields, localFields(updated), pair.record.fields);
    });
  }

  async #toCms({ pair, merge, about, next }: Merging): Promise<void> {
    const { toCms } = merge;
    if (toCms.size === 0) return;
    const fields = [...toCms.keys()];
    await this.#attempt({ action: 'update', side: 'cms', ...about, fields }, async () => {
      const sent = withChanges(pair.record.fields, toCms);
      const { changed, whole } = changedBody(pair.record.fields, toCms);
      const body = { ...whole, type: 'server', connectionId: pair.connection.id };
      const record = await this.#parts.client.update(pair.record.id, changed, body);
      next.keep(fields, pair.local, keptOf(sent, record));
    });
  }

  async #removeRecord({ link, name }: ActionOf<'remove-record'>): Promise<void> {
    const { recordId, connectionId } = link;
    const change = { action: 'remove', side: 'cms', name, recordId, connectionId } as const;
    await this.#attempt(change, async () => {
      await this.#parts.client.remove(recordId);
      this.#save({ ...link, removedBy: 'registry' });
    });
  }

  async #disconnect({ link, connection }: ActionOf<'disconnect'>): Promise<void> {
    const { recordId } = link;
    const { id: connectionId, name } = connection;
    const change = { action: 'remove', side: 'registry', name, recordId, connectionId } as const;
    await this.#attempt(change, async () => {
      const { registrar, author } = this.#parts;
      await registrar.disconnect(connectionId, author);
      this.#save({ ...link, removedBy: 'cms' });
    });
  }

  /** Does what is noted, unless nothing may change; a failure is noted in its place. */
  async #attempt(
    change: Parameters<SyncReport['change']>[0],
    work: () => Promise<void>,
    check?: () => Promise<void>,
  ): Promise<void> {
    const { action, side, name } = change;
    if (side === 'both') return;
    try {
      this.#parts.signal.throwIfAborted();
      await (this.#options.isDryRun ? check?.() : work());
      this.#report.change(change);
    } catch (error) {
      const stage = action === 'link' ? 'update' : action;
      this.#report.fail({ stage, side, name }, error);
    }
  }

  #save(link: CmsLink): void {
    this.#saved.set(link.recordId, link);
  }

  async #finish(links: readonly CmsLink[], listed: Listed): Promise<void> {
    const all = new Map(links.map((link) => [link.recordId, link]));
    for (const [recordId, link] of this.#saved) all.set(recordId, link);
    const live = [...all.values()].filter(isLiveLink);
    const { cms, direction } = this.#options;
    // After a push the bases do not say what else the CMS changed.
    const isWhole = direction !== 'push' && this.#report.isClean && isLikeBases(listed, live);
    await saveTag(this.#parts.sql, cms, isWhole ? listed.tag : undefined);
    if (direction !== 'pull') await this.#tellHealth(live);
  }

  async #tellHealth(links: readonly CmsLink[]): Promise<void> {
    const { client, directory } = this.#parts;
    try {
      await pushHealth(client, { syncId: this.#options.syncId, links, directory });
    } catch (error) {
      this.#report.fail({ stage: 'health', side: 'cms' }, error);
    }
  }
}

interface Merging {
  readonly pair: ActionOf<'merge'>['pair'];
  readonly merge: ActionOf<'merge'>['merge'];
  readonly about: {
    readonly name: string;
    readonly connectionId: string;
    readonly recordId: string;
  };
  readonly next: NextBase;
}

/** The base as it will be: what was made alike counts anew, the rest as before. */
class NextBase {
  readonly #local: Map<string, unknown>;
  readonly #remote: Map<string, unknown>;

  constructor({ local, remote }: Base) {
    this.#local = new Map(Object.entries(local));
    this.#remote = new Map(Object.entries(remote));
  }

  keep(fields: readonly string[], local: Base['local'], remote: Base['remote']): void {
    for (const field of fields) {
      this.#local.set(field, local[field]);
      this.#remote.set(field, remote[field]);
    }
  }

  base(): Base {
    const none = new Map<string, unknown>();
    const [local, remote] = [this.#local, this.#remote].map(Object.fromEntries);
    return { local: withChanges(local, none), remote: withChanges(remote, none) };
  }
}

/** What a CMS keeps of what it was sent: it may have its own form of some fields. */
function keptOf(sent: Base['remote'], record: CmsRecord | undefined): Base['remote'] {
  const { [bundlesField]: _, ...fields } = sent;
  return record ? { ...fields, ...record.fields } : fields;
}
