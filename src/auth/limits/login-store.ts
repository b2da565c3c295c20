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

/** Who tries to log in, from where, and what that takes of the buckets. */
export interface LoginAsk {
  /** The form in which usernames are compared, of somebody or nobody. */
  readonly usernameKey: string;
  readonly addressKey: string;
  /** An address is known to a user who has logged in from it since. */
  readonly since: Date;
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
 * Looks up the user of a name and takes one attempt of every bucket that counts, or none when one of
 * them is empty: one statement, the same for everybody and nobody.
 */
export async function beginLogin(sql: Sql, ask: LoginAsk): Promise<LoginStart> {
  // In the order in which all who ask for several buckets lock them.
  const asks = [ask.account, ask.address, ask.pair];
  const { rows } = await raw<StartRow>`
    select * from auth.begin_login(
      ${ask.usernameKey}, ${ask.addressKey}, ${ask.since},
      ${asks.map(({ key }) => key)}::text[],
      ${asks.map(({ spacingSeconds }) => spacingSeconds)}::float8[],
      ${asks.map(({ attempts }) => attempts)}::float8[])
  `.execute(sql);
  const [row] = rows;
  const grants = row ? grantsOf(row) : [];
  const [pair, address, account] = grants.toReversed();
  return { found: row && userOf(row), account, address, pair };
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
