import { sql as raw } from 'kysely';
import type { Sql, UserRow } from '../tables.ts';

/** Rejects with a unique violation of `users_username_key` when the name is taken. */
export async function insertUser(sql: Sql, user: UserRow): Promise<void> {
  await sql.insertInto('users').values(user).execute();
}

export function findUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  return sql.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
}

export function findUserByName(sql: Sql, usernameKey: string): Promise<UserRow | undefined> {
  const users = sql.selectFrom('users').selectAll();
  return users.where('username_key', '=', usernameKey).executeTakeFirst();
}

/** The user, locked until the transaction ends, so that what is decided about it stays true. */
export function findUserForUpdate(trx: Sql, id: string): Promise<UserRow | undefined> {
  return trx.selectFrom('users').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** The user after every change that is under way: what is read here precedes any later change. */
export function findSettledUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  return sql.selectFrom('users').selectAll().where('id', '=', id).forShare().executeTakeFirst();
}

/** Which users a listing is of. */
export interface UserQuery {
  readonly limit: number;
  readonly offset: number;
  /** Only the user of this name, as it is compared. */
  readonly usernameKey?: string | undefined;
}

/** One page, the newest user first, and how many there are. */
export async function listUsers(
  sql: Sql,
  { limit, offset, usernameKey }: UserQuery,
): Promise<{ users: UserRow[]; total: number }> {
  const wanted = sql
    .selectFrom('users')
    .$if(usernameKey !== undefined, (users) => users.where('username_key', '=', usernameKey ?? ''));
  const [users, { total }] = await Promise.all([
    wanted.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute(),
    wanted.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { users, total };
}

/** The user as it is then; undefined when it is gone. */
export function updateUser(
  sql: Sql,
  id: string,
  changes: Partial<UserRow>,
): Promise<UserRow | undefined> {
  return sql
    .updateTable('users')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Replaces the password of an enabled user as long as the old one is still in force; false else. */
export async function changePasswordHash(
  sql: Sql,
  {
    userId,
    from,
    to,
  }: { readonly userId: string; readonly from: string | null; readonly to: string },
): Promise<boolean> {
  const changed = await sql
    .updateTable('users')
    .set({ password_hash: to, updated_at: new Date() })
    .where('id', '=', userId)
    .where('password_hash', '=', from)
    .where('disabled', '=', false)
    .returning('id')
    .execute();
  return changed.length === 1;
}

/**
 * Leaves a user only those groups and roles that are among these; undefined when that takes none away.
 * Of a user whose groups are not known that is roles alone.
 */
export async function narrowUser(
  sql: Sql,
  userId: string,
  { groups, roles }: { readonly groups: readonly string[]; readonly roles: readonly string[] },
): Promise<UserRow | undefined> {
  const { rows } = await raw<UserRow>`
    update auth.users set updated_at = now(),
      groups = case when groups is not null then array(
        select held.name from unnest(groups) with ordinality as held (name, place)
        where held.name = any(${groups}::text[]) order by held.place
      ) end,
      roles = array(
        select held.name from unnest(roles) with ordinality as held (name, place)
        where held.name = any(${roles}::text[]) order by held.place
      )
    where id = ${userId} and (not groups <@ ${groups}::text[] or not roles <@ ${roles}::text[])
    returning *
  `.execute(sql);
  return rows[0];
}

/** Its sessions and refresh tokens go with it. */
export async function deleteUser(sql: Sql, id: string): Promise<void> {
  await sql.deleteFrom('users').where('id', '=', id).execute();
}

/** How many users hold a role, those that are disabled counted only when asked. */
export async function countUsersWithRole(
  sql: Sql,
  role: string,
  options: { readonly isDisabledCounted: boolean },
): Promise<number> {
  const { count } = await sql
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where((expression) => expression(expression.val(role), '=', expression.fn.any('roles')))
    .$if(!options.isDisabledCounted, (users) => users.where('disabled', '=', false))
    .executeTakeFirstOrThrow();
  return count;
}
