import type { Bus } from '../../kit/bus/bus.ts';
import { isUniqueViolation } from '../../kit/database/sql-errors.ts';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import { allows } from '../../kit/permissions.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { EventSink } from '../events.ts';
import type { AgreedCommand } from './agreed-command.ts';
import type { Connection } from './connection.ts';
import { ConnectionIds } from './connection-ids.ts';
import type { ConnectionRow, ConnectionState } from './connection-row.ts';
import { readConnections, updateConnection } from './connection-store.ts';
import { Departures } from './departures.ts';
import { ConnectionDirectory } from './directory.ts';
import { EndpointVault } from './endpoint-vault.ts';
import { Enrolment, nameTaken } from './enrolment.ts';
import type { HistoryEntry } from './history.ts';
import { listHistory } from './history-store.ts';
import { Notes } from './notes.ts';
import { replicateConnections, type ReplicatedSql, type Replication } from './replication.ts';
import { readRegistration } from './registration.ts';
import type { ConnectionPatch, ConnectionRequest, EndpointRules } from './request.ts';
import { RequestLog } from './request-log.ts';
import { planApproval, planUpdate, type Change, type Update } from './update.ts';
import { Upkeep } from './upkeep.ts';

export interface ConnectionsOptions extends EndpointRules {
  readonly sql: ReplicatedSql;
  readonly bus: Bus;
  readonly sealer: Sealer;
  readonly events: EventSink;
  readonly log: Log;
  /** Has a connection checked that is new or another one than before. */
  readonly checkSoon: (id: string) => void;
  /** More than this many that are not disconnected are refused. */
  readonly connectionsMax: number;
  readonly idleAfterSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

type Author = Pick<Identity, 'subject' | 'permissions'>;

const idPattern = /^con_[0-9a-f]{32}$/;
/** How often a change is tried again that somebody else's came before. */
const attemptsMax = 20;
/** After these nothing is known of its health, or what was known may be wrong. */
const checkedChanges: ReadonlySet<string> = new Set(['endpoint', 'approved', 'status']);

/** The connections of the registry: registered, changed, disconnected. The table is the truth. */
export class Connections implements AsyncDisposable {
  readonly directory: ConnectionDirectory;
  readonly notes: Notes;
  readonly #options: ConnectionsOptions;
  readonly #now: () => number;
  readonly #ids = new ConnectionIds(Date.now);
  readonly #lifetime: Lifetime;
  readonly #vault: EndpointVault;
  readonly #replication: Replication;
  readonly #enrolment: Enrolment;
  readonly #departures: Departures;
  readonly #requests: RequestLog;
  readonly #upkeep: Upkeep;

  constructor(options: ConnectionsOptions) {
    const { sql, bus, sealer, log, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    const vault = new EndpointVault(sealer, log);
    this.#vault = vault;
    this.directory = new ConnectionDirectory((err) =>
      log.error({ err }, 'a change of a connection was not taken over'),
    );
    const { directory } = this;
    const open = (row: ConnectionRow) => vault.open(row);
    this.#replication = replicateConnections({ sql, bus, directory, open, log });
    this.#enrolment = new Enrolment({
      sql,
      directory,
      connectionsMax: options.connectionsMax,
      onStored: (rows) => this.#replication.tell({ rows }),
    });
    this.#departures = new Departures({ sql, onStored: (rows) => this.#tellDeparted(rows) });
    this.#requests = new RequestLog({
      sql,
      directory,
      idleAfterMs: options.idleAfterSeconds * 1_000,
      now,
      onChanged: (states, reason) => this.#tellStates(states, reason),
      log,
    });
    this.notes = new Notes({
      sql,
      directory,
      requests: this.#requests,
      now,
      onStates: (states) => this.#tellStates(states),
      onRows: (rows) => this.#replication.tell({ rows }),
    });
    this.#upkeep = new Upkeep({
      sql,
      requests: this.#requests,
      replication: this.#replication,
      now,
      log,
    });
    this.#lifetime = new Lifetime(log);
    this.#lifetime.own('the replication of connections', this.#replication);
    this.#lifetime.own('registrations', this.#enrolment);
    this.#lifetime.own('departures', this.#departures);
    this.#lifetime.own('requests through connections', this.#requests);
    this.#lifetime.own('notes about connections', this.notes);
    this.#lifetime.own('the upkeep of connections', this.#upkeep);
  }

  /** Resolves when the directory holds what the table does. */
  async start(): Promise<void> {
    await this.#replication.start();
    this.#upkeep.start(this.#options.idleAfterSeconds);
  }

  /** Resolves once the connection is stored; whether it can be reached is seen later. */
  async register(request: ConnectionRequest, identity: Author): Promise<Connection> {
    const stored = await this.#enrolment.enrol(this.#read(request, identity));
    const { id, status } = stored;
    this.#tell({ id, status }, { change: 'registered' });
    this.#options.checkSoon(id);
    return this.directory.find(id) ?? this.#vault.open(stored);
  }

  /** Rejects as `register` would now, and stores nothing. */
  async check(request: ConnectionRequest, identity: Author): Promise<void> {
    this.#enrolment.requireFree(this.#read(request, identity).name);
  }

  /** The connection; `connection_not_found` when there is none. */
  async get(id: string): Promise<Connection> {
    const known = this.directory.find(id);
    if (known) return known;
    // What another replica stored a moment ago stands in the table.
    if (idPattern.test(id)) {
      this.#replication.takeOver(await readConnections(this.#options.sql, [id]));
    }
    const found = this.directory.find(id);
    if (found) return found;
    throw connectionNotFound(id);
  }

  /** When the last request went through it, milliseconds since the epoch. */
  lastActiveAt({ id, lastActiveAtMs }: Pick<Connection, 'id' | 'lastActiveAtMs'>): number {
    return Math.max(lastActiveAtMs, this.#requests.lastOf(id) ?? 0);
  }

  /** Resolves once the change is stored. */
  async update(id: string, patch: ConnectionPatch, identity: Author): Promise<Connection> {
    const change = this.#changeOf(identity);
    return this.#change(id, (before) =>
      planUpdate(before, patch, { change, rules: this.#options }),
    );
  }

  /** Ends a connection; it stays readable. One that is disconnected stays as it is. */
  async disconnect(id: string, { subject }: Pick<Identity, 'subject'>): Promise<Connection> {
    const before = await this.get(id);
    if (before.status === 'disconnected') return before;
    await this.#departures.add({ id, by: subject, atMs: this.#now() });
    return this.get(id);
  }

  /** Agrees to the command of a stdio connection as it is now. */
  approve(id: string, agreed: AgreedCommand, identity: Author): Promise<Connection> {
    const change = this.#changeOf(identity);
    return this.#change(id, (before) => planApproval(before, agreed, change));
  }

  /** A page of what happened to it, the newest first. */
  async history(
    id: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly entries: readonly HistoryEntry[]; readonly total: number }> {
    await this.get(id);
    return listHistory(this.#options.sql, id, page);
  }

  /** Looks for idle connections now, after the requests that have come. */
  sweep(): Promise<void> {
    return this.#upkeep.sweep();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lifetime[Symbol.asyncDispose]();
  }

  #read(request: ConnectionRequest, identity: Author) {
    return readRegistration(request, {
      id: this.#ids.next(),
      change: this.#changeOf(identity),
      rules: this.#options,
      close: (id, endpoint) => this.#vault.close(id, endpoint),
    });
  }

  #changeOf({ subject, permissions }: Author): Change {
    const mayExecute = allows(permissions, 'registry:execute');
    return { subject, mayExecute, atMs: this.#now() };
  }

  /** Repeats the change on the newest version until nobody else's came between. */
  async #change(id: string, plan: (before: Connection) => Update): Promise<Connection> {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const before = await this.get(id);
      const update = plan(before);
      if (update.notes.length === 0) return before;
      if (before.status === 'disconnected' && update.after.status !== 'disconnected') {
        this.#enrolment.requireRoom();
      }
      const row = await this.#store(update);
      if (row) return this.#taken(update, row);
      const [newest] = await readConnections(this.#options.sql, [id]);
      if (!newest) throw connectionNotFound(id);
      this.#replication.takeOver([newest]);
    }
    throw new Fault('unavailable', 'the connection changes too fast', { retryAfter: 1 });
  }

  async #store({ after, notes, isForgotten }: Update): Promise<ConnectionRow | undefined> {
    const { offer: _offer, server: _server, pins: _pins, quarantined: _held, ...said } = after;
    const approval = after.protocol === 'stdio' ? (after.approval ?? null) : null;
    const row = {
      ...said,
      ...this.#vault.close(after.id, after.endpoint),
      rowRevision: this.directory.rowRevisionOf(after.id),
      approval,
      disconnectedAtMs: after.disconnectedAtMs ?? null,
    };
    try {
      return await updateConnection(this.#options.sql, { row, isForgotten }, notes);
    } catch (error) {
      if (isUniqueViolation(error, 'connections_name')) throw nameTaken(after.name);
      throw error;
    }
  }

  #taken({ notes }: Update, row: ConnectionRow): Connection {
    this.#replication.tell({ rows: [row] });
    const { id, status } = row;
    const changes = notes.map(({ change }) => change);
    const change = changes.includes('disconnected') ? 'disconnected' : 'updated';
    this.#tell({ id, status }, { change });
    const isOther = changes.some((one) => checkedChanges.has(one));
    if (isOther && status !== 'disconnected') this.#options.checkSoon(id);
    return this.directory.find(id) ?? this.#vault.open(row);
  }

  #tellDeparted(rows: readonly ConnectionRow[]): void {
    this.#replication.tell({ rows });
    for (const { id, status } of rows) this.#tell({ id, status }, { change: 'disconnected' });
  }

  /** Only what changed of a status is told: checks are frequent. */
  #tellStates(states: readonly ConnectionState[], reason?: string): void {
    if (states.length === 0) return;
    const changed = states.filter(({ id, status }) => this.directory.find(id)?.status !== status);
    this.#replication.tell({ states });
    for (const { id, status, health } of changed) {
      this.#tell({ id, status }, { reason: reason ?? health.reason });
    }
  }

  #tell(
    { id, status }: Pick<Connection, 'id' | 'status'>,
    why: { readonly change?: string; readonly reason?: string | undefined },
  ): void {
    this.#options.events.tell({
      type: 'connection-status',
      connectionId: id,
      status,
      timestamp: new Date(this.#now()).toISOString(),
      ...(why.change === undefined ? {} : { change: why.change }),
      ...(why.reason === undefined ? {} : { reason: why.reason }),
    });
  }
}

/** The refusal of an id that no connection has. */
export function connectionNotFound(connectionId: string): Fault {
  return new Fault('not_found', `there is no connection ${connectionId}`, {
    reason: 'connection_not_found',
    detail: { connectionId },
  });
}
