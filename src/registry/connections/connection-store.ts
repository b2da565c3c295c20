import type { Database } from '../../kit/database/database.ts';
import type { ConnectionHealth, ConnectionStatus, Learned } from './connection.ts';
import type { ConnectionRow, ConnectionState, Version } from './connection-row.ts';
import type { HistoryNote } from './history.ts';

export type ConnectionSql = Pick<Database, 'query'>;

/** Of the table as `c`. */
export const stateColumns = `c.connection_id as id, c.revision, c.status, c.health,
  c.last_active_at_ms as "lastActiveAtMs", c.disconnected_at_ms as "disconnectedAtMs"`;

const columns = `${stateColumns}, c.name, c.type, c.protocol, c.owner_id as "ownerId", c.endpoint,
  c.secrets, c.approval, c.declared, c.offer, c.server, c.pins, c.quarantined, c.metadata,
  c.health_check as "healthCheck", c.created_at_ms as "createdAtMs"`;

/** What is to be noted in the history, of those connections that a statement has changed. */
const addNotes = `insert into registry.connection_history
    (connection_id, at_ms, change, changed_by, reason, before, after, detail)
  select h.id, h."atMs", h.change, h.by, h.reason, h.before, h.after, h.detail
  from json_to_recordset($2::json) as h (id text, "atMs" bigint, change text, by text, reason text,
    before text, after text, detail json)
  where h.id in (select id from changed)`;

/** The rows are locked by id, so that replicas do not wait for one another in a circle. */
const lockOpen = `select c.connection_id, c.status, c.health ->> 'status' as health
  from registry.connections c where c.status <> 'disconnected'
  and c.connection_id in (select id from n) order by c.connection_id for update`;

/** Stores new connections in one statement. The answer lacks those whose name is taken. */
export function insertConnections(
  sql: ConnectionSql,
  rows: readonly Omit<ConnectionRow, 'revision'>[],
): Promise<{ readonly id: string; readonly revision: number }[]> {
  return sql.query(
    `with added as (
       insert into registry.connections (connection_id, name, type, protocol, status, owner_id,
         endpoint, secrets, approval, declared, metadata, health_check, health, created_at_ms,
         last_active_at_ms)
       select n.id, n.name, n.type, n.protocol, n.status, n."ownerId", n.endpoint, n.secrets,
         n.approval, n.declared, n.metadata, n."healthCheck", n.health, n."createdAtMs",
         n."lastActiveAtMs"
       from json_to_recordset($1::json) as n (id text, name text, type text, protocol text,
         status text, "ownerId" text, endpoint json, secrets text, approval json, declared json,
         metadata json, "healthCheck" json, health jsonb, "createdAtMs" bigint,
         "lastActiveAtMs" bigint)
       order by n.name
       on conflict (name) where status <> 'disconnected' do nothing
       returning connection_id, revision, created_at_ms, owner_id, status
     ), noted as (
       insert into registry.connection_history (connection_id, at_ms, change, changed_by, after)
       select connection_id, created_at_ms, 'registered', owner_id, status from added
     )
     select connection_id as id, revision from added`,
    [JSON.stringify(rows)],
  );
}

/** What an update leaves a connection with. */
export interface Changed {
  readonly row: Omit<ConnectionRow, 'offer' | 'server' | 'pins' | 'quarantined'> & {
    /** The revision that the row was last read or written at; states since then do not count. */
    readonly rowRevision: number;
  };
  /** What was learned of the server holds no longer. */
  readonly isForgotten: boolean;
}

/** Stores a change of the row as the revisions had it; undefined when one is not the newest. */
export async function updateConnection(
  sql: ConnectionSql,
  { row, isForgotten }: Changed,
  notes: readonly HistoryNote[],
): Promise<ConnectionRow | undefined> {
  const [changed] = await sql.query<ConnectionRow>(
    `with changed as (
       update registry.connections c set name = n.name, status = n.status, endpoint = n.endpoint,
         secrets = n.secrets, approval = n.approval, declared = n.declared, metadata = n.metadata,
         health_check = n."healthCheck", health = n.health,
         last_active_at_ms = greatest(c.last_active_at_ms, n."lastActiveAtMs"),
         disconnected_at_ms = n."disconnectedAtMs",
         offer = case when $3 then null else c.offer end,
         server = case when $3 then null else c.server end,
         pins = case when $3 then null else c.pins end,
         quarantined = case when $3 then '[]' else c.quarantined end,
         revision = nextval('registry.connection_revisions'), row_after = c.revision
       from json_to_record($1::json) as n (id text, revision bigint, "rowRevision" bigint,
         name text, status text, endpoint json, secrets text, approval json, declared json, metadata json,
         "healthCheck" json, health jsonb, "lastActiveAtMs" bigint, "disconnectedAtMs" bigint)
       where c.connection_id = n.id and c.revision = n.revision
         and c.row_after < n."rowRevision"
       returning ${columns}
     ), noted as (${addNotes})
     select * from changed`,
    [JSON.stringify(row), JSON.stringify(notes), isForgotten],
  );
  return changed;
}

export interface NotedHealth {
  readonly id: string;
  readonly status: ConnectionStatus;
  readonly health: ConnectionHealth;
  readonly atMs: number;
}

/**
 * Notes the health of different connections in one statement, changes also in the history. Checks
 * move a connection to `error` and away from it, and nowhere else.
 */
export function noteHealth(
  sql: ConnectionSql,
  notes: readonly NotedHealth[],
): Promise<ConnectionState[]> {
  return sql.query<ConnectionState>(
    `with n as (
       select * from json_to_recordset($1::json)
         as n (id text, status text, health jsonb, "atMs" bigint)
     ), known as (${lockOpen}), changed as (
       update registry.connections c set health = n.health,
         status = case when n.status = 'error' then 'error'
           when c.status = 'error' then n.status else c.status end,
         revision = nextval('registry.connection_revisions')
       from n, known k where c.connection_id = n.id and k.connection_id = n.id
       returning ${stateColumns}, n."atMs", k.status as "statusBefore", k.health as "healthBefore"
     ), noted as (
       insert into registry.connection_history
         (connection_id, at_ms, change, reason, before, after)
       select id, "atMs", 'health', health ->> 'reason', "healthBefore", health ->> 'status'
       from changed where health ->> 'status' <> "healthBefore"
       union all
       select id, "atMs", 'status', health ->> 'reason', "statusBefore", status
       from changed where status <> "statusBefore"
     )
     select id, revision, status, health, "lastActiveAtMs", "disconnectedAtMs" from changed`,
    [JSON.stringify(notes)],
  );
}

/** Notes requests through different connections in one statement; idle ones become active. */
export function noteRequests(
  sql: ConnectionSql,
  requests: readonly { readonly id: string; readonly atMs: number }[],
): Promise<ConnectionState[]> {
  return sql.query<ConnectionState>(
    `with n as (
       select * from json_to_recordset($1::json) as n (id text, "atMs" bigint)
     ), known as (${lockOpen}), changed as (
       update registry.connections c
       set last_active_at_ms = greatest(c.last_active_at_ms, n."atMs"),
         status = case when c.status = 'idle' then 'active' else c.status end,
         revision = nextval('registry.connection_revisions')
       from n, known k where c.connection_id = n.id and k.connection_id = n.id
       returning ${stateColumns}, n."atMs", k.status as "statusBefore"
     ), noted as (
       insert into registry.connection_history
         (connection_id, at_ms, change, reason, before, after)
       select id, "atMs", 'status', 'request', "statusBefore", status
       from changed where status <> "statusBefore"
     )
     select id, revision, status, health, "lastActiveAtMs", "disconnectedAtMs" from changed`,
    [JSON.stringify(requests)],
  );
}

/** Makes those idle that are still active and had no request since a moment. */
export function noteIdle(
  sql: ConnectionSql,
  ids: readonly string[],
  { beforeMs, atMs }: { readonly beforeMs: number; readonly atMs: number },
): Promise<ConnectionState[]> {
  return sql.query<ConnectionState>(
    `with known as (
       select c.connection_id from registry.connections c
       where c.connection_id = any($1::text[]) order by c.connection_id for update
     ), changed as (
       update registry.connections c set status = 'idle',
         revision = nextval('registry.connection_revisions')
       from known k where c.connection_id = k.connection_id and c.status = 'active'
         and c.last_active_at_ms < $2
       returning ${stateColumns}
     ), noted as (
       insert into registry.connection_history
         (connection_id, at_ms, change, reason, before, after)
       select id, $3, 'status', 'no_request', 'active', 'idle' from changed
     )
     select * from changed`,
    [ids, beforeMs, atMs],
  );
}

/** Who ends a connection, and when. */
export interface Departure {
  readonly id: string;
  readonly by: string;
  readonly atMs: number;
}

/** Disconnects different connections in one statement; the answer lacks those that were already. */
export function disconnectAll(
  sql: ConnectionSql,
  departures: readonly Departure[],
): Promise<ConnectionRow[]> {
  return sql.query<ConnectionRow>(
    `with n as (
       select * from json_to_recordset($1::json) as n (id text, "by" text, "atMs" bigint)
     ), known as (${lockOpen}), changed as (
       update registry.connections c set status = 'disconnected', disconnected_at_ms = n."atMs",
         revision = nextval('registry.connection_revisions'), row_after = c.revision
       from n, known k where c.connection_id = n.id and k.connection_id = n.id
       returning ${columns}
     ), noted as (
       insert into registry.connection_history
         (connection_id, at_ms, change, changed_by, before, after)
       select k.connection_id, n."atMs", 'disconnected', n."by", k.status, 'disconnected'
       from known k join n on n.id = k.connection_id
     )
     select * from changed`,
    [JSON.stringify(departures)],
  );
}

/** Notes what was learned of different servers in one statement; what is left out stays. */
export function noteLearned(
  sql: ConnectionSql,
  learned: readonly (Learned & { readonly id: string })[],
  notes: readonly HistoryNote[],
): Promise<ConnectionRow[]> {
  return sql.query<ConnectionRow>(
    `with n as (
       select * from json_to_recordset($1::json)
         as n (id text, offer json, server json, pins json, quarantined json)
     ), known as (${lockOpen}), changed as (
       update registry.connections c set offer = coalesce(n.offer, c.offer),
         server = coalesce(n.server, c.server), pins = coalesce(n.pins, c.pins),
         quarantined = coalesce(n.quarantined, c.quarantined),
         revision = nextval('registry.connection_revisions'), row_after = c.revision
       from n, known k where c.connection_id = n.id and k.connection_id = n.id
       returning ${columns}
     ), noted as (${addNotes})
     select * from changed`,
    [JSON.stringify(learned), JSON.stringify(notes)],
  );
}

/** Those of the ids that are there. */
export function readConnections(
  sql: ConnectionSql,
  ids: readonly string[],
): Promise<ConnectionRow[]> {
  return sql.query<ConnectionRow>(
    `select ${columns} from registry.connections c where c.connection_id = any($1::text[])`,
    [ids],
  );
}

/** The next two hundred connections behind an id, by id. */
export function readPage(sql: ConnectionSql, afterId: string): Promise<ConnectionRow[]> {
  return sql.query<ConnectionRow>(
    `select ${columns} from registry.connections c where c.connection_id > $1
     order by c.connection_id limit 200`,
    [afterId],
  );
}

/** Removes those that were disconnected before a moment, and all but the newest so many. */
export function deleteDisconnected(
  sql: ConnectionSql,
  { beforeMs, keptMax }: { readonly beforeMs: number; readonly keptMax: number },
): Promise<Version[]> {
  return sql.query<Version>(
    `delete from registry.connections c
     where c.status = 'disconnected' and (c.disconnected_at_ms < $1 or c.connection_id in (
       select o.connection_id from registry.connections o where o.status = 'disconnected'
       order by o.disconnected_at_ms desc, o.connection_id offset $2))
     returning c.connection_id as id, nextval('registry.connection_revisions') as revision`,
    [beforeMs, keptMax],
  );
}

/** Whether anything is sealed already. */
export async function hasSecrets(sql: ConnectionSql): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from registry.connections where secrets is not null limit 1`,
  );
  return rows.length > 0;
}
