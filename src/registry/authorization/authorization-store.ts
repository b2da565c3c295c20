import type { Database } from '../../kit/database/database.ts';

export type AuthorizationSql = Pick<Database, 'query'>;

export interface AuthorizationRow {
  readonly sealed: string;
  readonly version: number;
}

export interface FlowRow {
  readonly connectionId: string;
  readonly sealed: string;
}

/** Seconds that a begun login may take. */
export const flowSeconds = 600;
/** Seconds for which one replica renews alone. */
const renewalSeconds = 15;

export async function readAuthorization(
  sql: AuthorizationSql,
  connectionId: string,
): Promise<AuthorizationRow | undefined> {
  const [row] = await sql.query<AuthorizationRow>(
    `select sealed, version from registry.authorizations where connection_id = $1`,
    [connectionId],
  );
  return row;
}

/** Replaces whatever there was, and answers the new version. */
export async function saveAuthorization(
  sql: AuthorizationSql,
  connectionId: string,
  sealed: string,
): Promise<number> {
  const [row] = await sql.query<{ readonly version: number }>(
    `insert into registry.authorizations (connection_id, sealed) values ($1, $2)
     on conflict (connection_id) do update
     set sealed = excluded.sealed, version = registry.authorizations.version + 1,
       renewing_until = null, updated_at = now()
     returning version`,
    [connectionId, sealed],
  );
  return row?.version ?? 1;
}

/** False when the version has passed, or another replica is renewing it. */
export async function claimRenewal(
  sql: AuthorizationSql,
  connectionId: string,
  version: number,
): Promise<boolean> {
  const rows = await sql.query(
    `update registry.authorizations
     set renewing_until = now() + make_interval(secs => ${renewalSeconds})
     where connection_id = $1 and version = $2
       and (renewing_until is null or renewing_until < now())
     returning connection_id`,
    [connectionId, version],
  );
  return rows.length > 0;
}

/** Stores the renewed tokens, unless the authorization was replaced or removed meanwhile. */
export async function saveRenewal(
  sql: AuthorizationSql,
  connectionId: string,
  { sealed, version }: AuthorizationRow,
): Promise<boolean> {
  const rows = await sql.query(
    `update registry.authorizations
     set sealed = $3, version = version + 1, renewing_until = null, updated_at = now()
     where connection_id = $1 and version = $2
     returning connection_id`,
    [connectionId, version, sealed],
  );
  return rows.length > 0;
}

/** Lets the next one try at once. */
export async function releaseRenewal(sql: AuthorizationSql, connectionId: string): Promise<void> {
  await sql.query(
    `update registry.authorizations set renewing_until = null where connection_id = $1`,
    [connectionId],
  );
}

/** False when there was none. Logins that were begun end with it, and the registered client is forgotten. */
export async function deleteAuthorization(
  sql: AuthorizationSql,
  connectionId: string,
): Promise<boolean> {
  const rows = await sql.query(
    `with flows as (delete from registry.authorization_flows where connection_id = $1),
       clients as (delete from registry.registered_clients where connection_id = $1)
     delete from registry.authorizations where connection_id = $1 returning connection_id`,
    [connectionId],
  );
  return rows.length > 0;
}

/** Stores a begun login; those that were never finished are swept out with it. */
export async function saveFlow(
  sql: AuthorizationSql,
  stateHash: string,
  { connectionId, sealed }: FlowRow,
): Promise<void> {
  await sql.query(
    `with swept as (
       delete from registry.authorization_flows
       where created_at < now() - make_interval(secs => ${flowSeconds})
     )
     insert into registry.authorization_flows (state_hash, connection_id, sealed)
     values ($1, $2, $3)`,
    [stateHash, connectionId, sealed],
  );
}

/** The login, which nobody can take a second time; nothing when it is unknown or too old. */
export async function takeFlow(
  sql: AuthorizationSql,
  stateHash: string,
): Promise<FlowRow | undefined> {
  const [row] = await sql.query<{ connection_id: string; sealed: string; is_late: boolean }>(
    `delete from registry.authorization_flows where state_hash = $1
     returning connection_id, sealed,
       created_at < now() - make_interval(secs => ${flowSeconds}) as is_late`,
    [stateHash],
  );
  if (!row || row.is_late) return undefined;
  return { connectionId: row.connection_id, sealed: row.sealed };
}

/** The sealed registration of the registry as a client for this connection. */
export async function readRegistration(
  sql: AuthorizationSql,
  connectionId: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ readonly sealed: string }>(
    `select sealed from registry.registered_clients where connection_id = $1`,
    [connectionId],
  );
  return row?.sealed;
}

/** Replaces whatever there was. */
export async function saveRegistration(
  sql: AuthorizationSql,
  connectionId: string,
  sealed: string,
): Promise<void> {
  await sql.query(
    `insert into registry.registered_clients (connection_id, sealed) values ($1, $2)
     on conflict (connection_id) do update set sealed = excluded.sealed, updated_at = now()`,
    [connectionId, sealed],
  );
}

/** Whether anything is sealed already. */
export async function hasAuthorizations(sql: AuthorizationSql): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from registry.authorizations union all select 1 from registry.registered_clients limit 1`,
  );
  return rows.length > 0;
}
