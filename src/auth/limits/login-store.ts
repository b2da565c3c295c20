import { sql as raw } from 'kysely';
import type { Sql, UserRow } from '../tables.ts';
import type { AllowanceAsk, AllowanceGrant } from './allowance-store.ts';

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

/** Who tries to log in, from where, and the buckets that it takes from. */
export interface LoginAsk {
  /** The form in which usernames are compared, of somebody or nobody. */
  readonly usernameKey: string;
  readonly addressKey: string;
  readonly account: AllowanceAsk;
  readonly address: AllowanceAsk;
  readonly pair: AllowanceAsk;
}

/** Whose name it is, and what the buckets gave. */
export interface LoginStart {
  readonly found: LoginUser | undefined;
  /** Undefined where the address is known: then it was not asked. */
  readonly account: AllowanceGrant | undefined;
  readonly address: AllowanceGrant | undefined;
  readonly pair: AllowanceGrant | undefined;
}

interface StartRow {
  readonly user_id: string | null;
  readonly user_email: string;
  readonly user_name: string;
  readonly user_roles: string[];
  readonly user_groups: string[] | null;
  readonly is_disabled: boolean;
  readonly hashed: string | null;
  readonly seen_at: Date | null;
  readonly factor_at: Date | null;
  readonly granted: readonly number[];
  readonly remaining: readonly number[];
  readonly full_in: readonly number[];
  readonly wait: readonly number[];
}

/**
 * Looks up the users of names, and for each login takes one attempt of every bucket that counts, or
 * none when one of them is empty: one statement, the same for everybody and nobody. An address is
 * known to a user who has logged in from it since. The asks differ in nothing but their keys.
 */
export async function beginLogins(
  sql: Sql,
  asks: readonly LoginAsk[],
  since: Date,
): Promise<LoginStart[]> {
  const buckets = asks.map(({ account, address, pair }) => [account, address, pair]);
  const kinds = buckets[0] ?? [];
  const { rows } = await raw<StartRow>`
    select * from auth.begin_logins(
      ${asks.map(({ usernameKey }) => usernameKey)}::text[],
      ${asks.map(({ addressKey }) => addressKey)}::text[], ${since},
      ${buckets.flat().map(({ key }) => key)}::text[],
      ${kinds.map(({ spacingSeconds }) => spacingSeconds)}::float8[],
      ${kinds.map(({ attempts }) => attempts)}::float8[])
  `.execute(sql);
  return rows.map((row) => {
    const [pair, address, account] = grantsOf(row).toReversed();
    return { found: userOf(row), account, address, pair };
  });
}

function userOf(row: StartRow): LoginUser | undefined {
  const { user_id: id, user_email: email, user_name: name, user_roles: roles } = row;
  if (id === null) return undefined;
  const { user_groups: groups, is_disabled: disabled, hashed: password_hash } = row;
  return {
    user: { id, email, name, roles, groups, disabled, password_hash },
    lastSeenAt: row.seen_at,
    hasSecondFactor: row.factor_at !== null,
  };
}

function grantsOf({ granted, remaining, full_in, wait }: StartRow): AllowanceGrant[] {
  return granted.map((attempts, at) => ({
    granted: attempts,
    remaining: remaining[at] ?? 0,
    fullInSeconds: full_in[at] ?? 0,
    waitSeconds: wait[at] ?? 0,
  }));
}
