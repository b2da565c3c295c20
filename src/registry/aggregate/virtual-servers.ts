import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { hasUnheardWriters, UnheardWritersWatch } from '../../kit/bus/unheard-writers.ts';
import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { isStorable } from '../../kit/storable-json.ts';
import type { Catalog } from './catalog.ts';
import type { Definition, VirtualServer } from './virtual-server.ts';
import {
  deleteVirtualServer,
  insertVirtualServer,
  readVersions,
  readVirtualServers,
  updateVirtualServer,
  type VirtualServerSql,
} from './virtual-server-store.ts';
import { VirtualView } from './virtual-view.ts';

export interface VirtualServersParts {
  readonly sql: VirtualServerSql & Pick<Database, 'dialect'>;
  readonly bus: Bus;
  readonly catalog: Catalog;
  readonly log: Log;
}

export interface VirtualServerChange {
  readonly before: VirtualServer | undefined;
  /** Absent: it was deleted. */
  readonly after: VirtualServer | undefined;
}

type Named = Definition & { readonly name: string };

const serversMax = 1000;
const topicName = 'registry.virtual-servers';
const idPrefix = 'vsr';
/** Names and ids are one space: both address a virtual server. */
const idPattern = /^vsr_/i;

/** The virtual servers of all replicas: in memory, read anew from the table when one of them changes. */
export class VirtualServers implements AsyncDisposable {
  readonly #parts: VirtualServersParts;
  readonly #topic: Topic<{ readonly id: string }>;
  readonly #listeners = new Set<(change: VirtualServerChange) => void>();
  #servers = new Map<string, VirtualServer>();
  #idsByName = new Map<string, string>();
  readonly #views = new Map<
    string,
    { readonly server: VirtualServer; readonly view: VirtualView }
  >();
  #watch: UnheardWritersWatch | undefined;
  #subscription: Subscription | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(parts: VirtualServersParts) {
    this.#parts = parts;
    this.#topic = parts.bus.topic(topicName);
  }

  async start(): Promise<void> {
    const reread = () => {
      this.#reread().catch((err: unknown) =>
        this.#parts.log.error({ err }, 'virtual servers could not be reread'),
      );
    };
    this.#subscription = await this.#topic.subscribe(reread, { onGap: reread });
    await this.#reread();
    const { bus, sql } = this.#parts;
    this.#watch = new UnheardWritersWatch(
      () => hasUnheardWriters(bus, sql),
      () => void this.look(),
    );
  }

  /** Takes over what changed in the table; resolves also when it cannot be read. */
  async look(): Promise<void> {
    try {
      const versions = await readVersions(this.#parts.sql);
      const isSame = ({ id, updatedAtMs }: Pick<VirtualServer, 'id' | 'updatedAtMs'>) =>
        this.#servers.get(id)?.updatedAtMs === updatedAtMs;
      if (versions.length === this.#servers.size && versions.every(isSame)) return;
      await this.#reread();
    } catch (err) {
      this.#parts.log.warn({ err }, 'virtual servers could not be looked for');
    }
  }

  /** Called after each change, also one that another replica made. The answer ends it. */
  onChange(listener: (change: VirtualServerChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** By its id or its name. */
  find(idOrName: string): VirtualServer | undefined {
    return this.#servers.get(idOrName) ?? this.#servers.get(this.#idsByName.get(idOrName) ?? '');
  }

  /** Fault `virtual_server_not_found`. */
  require(idOrName: string): VirtualServer {
    const found = this.find(idOrName);
    if (found) return found;
    throw notFound(idOrName);
  }

  /** The oldest first. */
  all(): readonly VirtualServer[] {
    return [...this.#servers.values()];
  }

  viewOf(server: VirtualServer): VirtualView {
    const known = this.#views.get(server.id);
    if (known?.server === server) return known.view;
    const view = new VirtualView(this.#parts.catalog, server);
    if (this.#servers.get(server.id) === server) this.#views.set(server.id, { server, view });
    return view;
  }

  /** Faults `name_taken`, `name_reserved`, `duplicate_name`, `too_many_virtual_servers`. */
  async create(named: Named, createdBy: string): Promise<VirtualServer> {
    refuseFlawed(named);
    const now = Date.now();
    const id = newId(idPrefix);
    const server = { ...named, id, createdBy, createdAtMs: now, updatedAtMs: now };
    if (!(await insertVirtualServer(this.#parts.sql, server, serversMax))) {
      throw new Fault('conflict', `there are ${serversMax} virtual servers already`, {
        reason: 'too_many_virtual_servers',
      });
    }
    await this.#tell(id);
    return this.find(id) ?? server;
  }

  /** Faults as `create`, and `virtual_server_not_found`. */
  async replace(idOrName: string, named: Named): Promise<VirtualServer> {
    refuseFlawed(named);
    const before = this.require(idOrName);
    const { id, createdBy, createdAtMs } = before;
    // Grows also within a millisecond: it is what tells one version from the next.
    const updatedAtMs = Math.max(Date.now(), before.updatedAtMs + 1);
    const server = { ...named, id, createdBy, createdAtMs, updatedAtMs };
    if (!(await updateVirtualServer(this.#parts.sql, server))) throw notFound(idOrName);
    await this.#tell(id);
    return this.find(id) ?? server;
  }

  /** Answers its id; Fault `virtual_server_not_found`. */
  async delete(idOrName: string): Promise<string> {
    const { id } = this.require(idOrName);
    if (!(await deleteVirtualServer(this.#parts.sql, id))) throw notFound(idOrName);
    await this.#tell(id);
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch?.[Symbol.dispose]();
    await this.#subscription?.close();
    await this.#reading.catch(() => {});
    this.#listeners.clear();
  }

  async #tell(id: string): Promise<void> {
    await this.#reread();
    await this.#topic.publish({ id }).catch((err: unknown) => {
      this.#parts.log.warn({ err }, 'other replicas could not be told of virtual servers');
    });
  }

  /** One at a time, so that an older reading never replaces a newer one. */
  #reread(): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => this.#read());
    this.#reading = reading;
    return reading;
  }

  async #read(): Promise<void> {
    const before = this.#servers;
    const read = await readVirtualServers(this.#parts.sql);
    const changes: VirtualServerChange[] = [];
    this.#servers = new Map(
      read.map((server) => {
        const known = before.get(server.id);
        if (known?.updatedAtMs === server.updatedAtMs) return [server.id, known];
        changes.push({ before: known, after: server });
        return [server.id, server];
      }),
    );
    this.#idsByName = new Map(read.map(({ id, name }) => [name, id]));
    for (const [id, server] of before) {
      if (this.#servers.has(id)) continue;
      this.#views.delete(id);
      changes.push({ before: server, after: undefined });
    }
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}

function refuseFlawed(named: Named): void {
  if (!isStorable(JSON.stringify(named))) {
    const message = 'a text holds half a surrogate pair or U+0000';
    throw new Fault('invalid', message, { reason: 'validation_error' });
  }
  refuseUnclear(named);
}

/** Two picks of one explicit name would hide one of them. */
function refuseUnclear({ name, tools, prompts }: Named): void {
  if (idPattern.test(name)) {
    throw new Fault('invalid', 'a name must not look like an id', { reason: 'name_reserved' });
  }
  for (const picks of [tools, prompts]) {
    const seen = new Set<string>();
    for (const { as } of picks) {
      if (as === undefined || as.includes('*')) continue;
      if (seen.has(as)) {
        throw new Fault('invalid', `two are named ${as}`, { reason: 'duplicate_name' });
      }
      seen.add(as);
    }
  }
}

function notFound(virtualServerId: string): Fault {
  return new Fault('not_found', 'there is no such virtual server', {
    reason: 'virtual_server_not_found',
    detail: { virtualServerId },
  });
}
