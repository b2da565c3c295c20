import { sql as raw } from 'kysely';
import type { GroupMappingRow, Sql, SqlTransaction } from '../tables.ts';

/** All mappings, by the name of the group. */
export function listGroupMappings(sql: Sql): Promise<GroupMappingRow[]> {
  return sql.selectFrom('group_mappings').selectAll().orderBy('idp_group').execute();
}

/** Puts these mappings in the place of all there are. */
export async function replaceGroupMappings(
  trx: SqlTransaction,
  mappings: readonly GroupMappingRow[],
): Promise<void> {
  await trx.deleteFrom('group_mappings').execute();
  if (mappings.length === 0) return;
  await trx
    .insertInto('group_mappings')
    .values([...mappings])
    .execute();
}

/** How many users have the very same roles. */
export interface RoleSet {
  /** The roles as one text, which tells the sets apart. */
  readonly key: string;
  readonly roles: string[];
  readonly users: number;
}

/** Which sets of roles users have, as far as one of these roles is in them. */
export async function listRoleSets(sql: Sql, roles: readonly string[]): Promise<RoleSet[]> {
  const { rows } = await raw<RoleSet>`
    select roles::text as key, roles, count(*) as users from auth.users
    where roles && ${roles}::text[]
    group by roles
  `.execute(sql);
  return rows;
}

/** The first users, by id, whose roles are one of the sets. */
export async function listUsersWithRoleSet(
  sql: Sql,
  { keys, limit }: { readonly keys: readonly string[]; readonly limit: number },
): Promise<{ readonly id: string; readonly username: string; readonly roles: string[] }[]> {
  const { rows } = await raw<{ id: string; username: string; roles: string[] }>`
    select id, username, roles from auth.users
    where roles::text = any(${keys}::text[])
    order by id limit ${limit}
  `.execute(sql);
  return rows;
}

/**
 * Whether somebody who is not disabled and has a password has one of the roles. Users of a provider
 * do not count: what they may do ends with their groups there.
 */
export async function hasEnabledUser(sql: Sql, roles: readonly string[]): Promise<boolean> {
  const { rows } = await raw`
    select from auth.users
    where not disabled and password_hash is not null and roles && ${roles}::text[]
    limit 1
  `.execute(sql);
  return rows.length === 1;
}
