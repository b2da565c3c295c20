import type { Sql, UserRow } from '../tables.ts';

const userColumns = [
  'users.id',
  'users.email',
  'users.name',
  'users.roles',
  'users.groups',
  'users.disabled',
  'users.password_hash',
] as const;

/** A user as a login needs it. */
export interface LoginUser {
  readonly user: Pick<
    UserRow,
    'id' | 'email' | 'name' | 'roles' | 'groups' | 'disabled' | 'password_hash'
  >;
  /** When they last logged in from the address; null when it is not known to be theirs. */
  readonly lastSeenAt: Date | null;
  /** Whether a second factor is in force. */
  readonly hasSecondFactor: boolean;
}

/** The user of a name; `lastSeenAt` is null when the last login from the address is before `since`. */
export async function findLoginUser(
  sql: Sql,
  login: { readonly usernameKey: string; readonly addressKey: string; readonly since: Date },
): Promise<LoginUser | undefined> {
  const found = await sql
    .selectFrom('users')
    .leftJoin('known_addresses as known', (join) =>
      join
        .onRef('known.user_id', '=', 'users.id')
        .on('known.address_key', '=', login.addressKey)
        .on('known.last_seen_at', '>=', login.since),
    )
    .leftJoin('second_factors as factor', 'factor.user_id', 'users.id')
    .select(userColumns)
    .select(['known.last_seen_at as lastSeenAt', 'factor.enabled_at as factorEnabledAt'])
    .where('users.username_key', '=', login.usernameKey)
    .executeTakeFirst();
  if (!found) return undefined;
  const { lastSeenAt, factorEnabledAt, ...user } = found;
  return { user, lastSeenAt, hasSecondFactor: factorEnabledAt !== null };
}

/** Notes a login from an address; rejects with a foreign key violation when the user is gone. */
export async function rememberAddress(
  sql: Sql,
  seen: { readonly userId: string; readonly addressKey: string; readonly at: Date },
): Promise<void> {
  await sql
    .insertInto('known_addresses')
    .values({ user_id: seen.userId, address_key: seen.addressKey, last_seen_at: seen.at })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'address_key']).doUpdateSet({ last_seen_at: seen.at }),
    )
    .execute();
}

export async function deleteForgottenAddresses(sql: Sql, before: Date): Promise<void> {
  await sql.deleteFrom('known_addresses').where('last_seen_at', '<', before).execute();
}
