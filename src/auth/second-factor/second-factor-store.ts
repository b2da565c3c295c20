import { sql as raw } from 'kysely';
import type { SecondFactorRow, Sql, SqlTransaction } from '../tables.ts';

/** A second factor and how many of its recovery codes are left. */
export interface SecondFactorState extends SecondFactorRow {
  readonly recovery_codes_left: number;
}

export async function findSecondFactor(
  sql: Sql,
  userId: string,
): Promise<SecondFactorState | undefined> {
  const { rows } = await raw<SecondFactorState>`
    select f.*, (select count(*) from auth.recovery_codes c where c.user_id = f.user_id)
      as recovery_codes_left
    from auth.second_factors f where f.user_id = ${userId}
  `.execute(sql);
  return rows[0];
}

/** Stores a secret that waits for its first code; false when a second factor is in force already. */
export async function insertPendingFactor(
  sql: Sql,
  { userId, secret }: { readonly userId: string; readonly secret: string },
): Promise<boolean> {
  const now = new Date();
  const { rows } = await raw`
    insert into auth.second_factors as f (user_id, secret, created_at, attempts_since)
    values (${userId}, ${secret}, ${now}, ${now})
    on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
    where f.enabled_at is null
    returning user_id
  `.execute(sql);
  return rows.length === 1;
}

/**
 * Counts an attempt and answers the factor, in one statement, so that of many codes tried at once no
 * more than the limit are looked at. Undefined when there are no attempts left, or no factor.
 */
export async function claimAttempt(
  sql: Sql,
  { userId, max, windowMs }: AttemptClaim,
): Promise<SecondFactorRow | undefined> {
  const now = new Date();
  const start = new Date(now.getTime() - windowMs);
  const { rows } = await raw<SecondFactorRow>`
    update auth.second_factors set
      attempts = case when attempts_since > ${start} then attempts + 1 else 1 end,
      attempts_since = case when attempts_since > ${start} then attempts_since else ${now} end
    where user_id = ${userId} and (attempts_since <= ${start} or attempts < ${max})
    returning *
  `.execute(sql);
  return rows[0];
}

export interface AttemptClaim {
  readonly userId: string;
  readonly max: number;
  readonly windowMs: number;
}

/** A time step whose code was shown, for the secret that it was the code of. */
export interface ShownStep {
  readonly userId: string;
  readonly secret: string;
  readonly step: number;
}

/** Accepts a time step once: of many at once exactly one is answered true. */
export async function acceptStep(sql: Sql, { userId, secret, step }: ShownStep): Promise<boolean> {
  const accepted = await sql
    .updateTable('second_factors')
    .set({ last_step: step, attempts: 0 })
    .where('user_id', '=', userId)
    .where('secret', '=', secret)
    .where('enabled_at', 'is not', null)
    .where('last_step', '<', step)
    .returning('user_id')
    .execute();
  return accepted.length === 1;
}

/** Puts a pending factor in force with its first step; false when it is pending no more. */
export async function enableFactor(sql: Sql, { userId, secret, step }: ShownStep) {
  const enabled = await sql
    .updateTable('second_factors')
    .set({ enabled_at: new Date(), last_step: step, attempts: 0 })
    .where('user_id', '=', userId)
    .where('secret', '=', secret)
    .where('enabled_at', 'is', null)
    .returning('user_id')
    .execute();
  return enabled.length === 1;
}

/** Uses up a recovery code: of many at once exactly one is answered true. */
export async function consumeRecoveryCode(
  sql: Sql,
  { userId, hash }: { readonly userId: string; readonly hash: Buffer },
): Promise<boolean> {
  const { rows } = await raw`
    with used as (
      delete from auth.recovery_codes where user_id = ${userId} and hash = ${hash}
      returning user_id
    )
    update auth.second_factors f set attempts = 0 from used where f.user_id = used.user_id
    returning f.user_id
  `.execute(sql);
  return rows.length === 1;
}

/** Replaces all recovery codes; false when there is no second factor any more. */
export async function replaceRecoveryCodes(
  trx: SqlTransaction,
  { userId, hashes }: { readonly userId: string; readonly hashes: readonly Buffer[] },
): Promise<boolean> {
  const factors = trx.selectFrom('second_factors').select('user_id').where('user_id', '=', userId);
  // The lock puts two replacements in order, so that only one set is left.
  if (!(await factors.forUpdate().executeTakeFirst())) return false;
  await trx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  const rows = hashes.map((hash) => ({ user_id: userId, hash }));
  await trx.insertInto('recovery_codes').values(rows).execute();
  return true;
}

/** Removes the factor and its recovery codes; answers whether one was in force. */
export async function deleteFactor(sql: Sql, userId: string): Promise<boolean> {
  const deleted = await sql
    .deleteFrom('second_factors')
    .where('user_id', '=', userId)
    .returning('enabled_at')
    .execute();
  return deleted.some(({ enabled_at }) => enabled_at !== null);
}
