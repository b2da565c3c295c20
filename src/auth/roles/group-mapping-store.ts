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

/** Where users have their permissions from: mapped groups, or the roles of an administrator. */
export interface PermissionSource {
  readonly kind: 'groups' | 'roles';
  readonly names: string[];
}

/** How many users have their permissions from the very same source. */
export interface SourceCount extends PermissionSource {
  /** Tells the sources apart. */
  readonly key: string;
  readonly users: number;
}

/** What a change of the mappings reaches. */
export interface SourceChoice {
  /** Touched by the change: users in one of them are meant, */
  readonly groups: readonly string[];
  /** and users to whom an administrator gave one of these. */
  readonly roles: readonly string[];
  /** Every group that is mapped before or after; a source names no other. */
  readonly mappedGroups: readonly string[];
}

/** From which sources the users whom a change reaches have their permissions. */
export async function listSources(sql: Sql, choice: SourceChoice): Promise<SourceCount[]> {
  const { rows } = await raw<SourceCount>`
    select kind, names, kind || names::text as key, count(*) as users
    from (${sourcesOf(choice)}) as source
    group by kind, names
  `.execute(sql);
  return rows;
}

/** The first users, by id, whose source is one of the keys of `listSources`. */
export async function listUsersOfSources(
  sql: Sql,
  choice: SourceChoice,
  { keys, limit }: { readonly keys: readonly string[]; readonly limit: number },
): Promise<(PermissionSource & { readonly id: string; readonly username: string })[]> {
  const { rows } = await raw<PermissionSource & { id: string; username: string }>`
    select * from (${sourcesOf(choice)}) as source
    where kind || names::text = any(${keys}::text[])
    order by id limit ${limit}
  `.execute(sql);
  return rows;
}

/** The users whose source is one of the keys of `listSources` and who have an API key that is good. */
export async function listKeyHoldersOfSources(
  sql: Sql,
  choice: SourceChoice,
  keys: readonly string[],
): Promise<string[]> {
  const { rows } = await raw<{ id: string }>`
    select source.id from (${sourcesOf(choice)}) as source
    where kind || names::text = any(${keys}::text[]) and exists (
      select from auth.api_keys k where k.owner_id = source.id and k.kind = 'user'
        and k.revoked_at is null and coalesce(k.expires_at > now(), true)
    )
    order by source.id
  `.execute(sql);
  return rows.map(({ id }) => id);
}

function sourcesOf({ groups, roles, mappedGroups }: SourceChoice) {
  return raw`
    select id, username, 'roles' as kind, roles as names from auth.users
    where groups is null and roles && ${roles}::text[]
    union all
    select id, username, 'groups' as kind, array(
      select held from unnest(groups) as held
      where held = any(${mappedGroups}::text[]) order by held
    ) as names from auth.users
    where groups && ${groups}::text[]
  `;
}

/**
 * Whether somebody who is not disabled and has a password has one of the roles. Users of a provider
 * do not count: what they may do ends with their groups there.
 */
export async function hasEnabledUser(sql: Sql, roles: readonly string[]): Promise<boolean> {
  const { rows } = await raw`
    select from auth.users
    where not disabled and password_hash is not null and provider is null
      and roles && ${roles}::text[]
    limit 1
  `.execute(sql);
  return rows.length === 1;
}
