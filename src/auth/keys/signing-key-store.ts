import { sql as raw } from 'kysely';
import { lock } from '../store.ts';
import type { SigningKeyRow, SigningKeyState, Sql, SqlTransaction } from '../tables.ts';

/** What is known of a key without its halves. */
export type SigningKeyRecord = Pick<
  SigningKeyRow,
  'kid' | 'state' | 'created_at' | 'state_changed_at'
>;

const recordColumns = ['kid', 'state', 'created_at', 'state_changed_at'] as const;
const ended = ['retired', 'revoked'] as const satisfies readonly SigningKeyState[];

/** Makes all other changes of signing keys wait until the transaction ends. */
export function lockSigningKeys(trx: SqlTransaction): Promise<void> {
  return lock(trx, 'signing keys');
}

/** All keys whose tokens may be good: the active one first, then the next, then the others. */
export function listPublishedKeys(sql: Sql): Promise<SigningKeyRow[]> {
  return sql
    .selectFrom('signing_keys')
    .selectAll()
    .where('state', 'not in', ended)
    .orderBy(raw`case state when 'active' then 0 when 'pending' then 1 else 2 end`)
    .orderBy('created_at', 'desc')
    .orderBy('kid')
    .execute();
}

/** A page of all keys there ever were, the newest first. */
export async function pageSigningKeys(
  sql: Sql,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ keys: SigningKeyRecord[]; total: number }> {
  const [keys, counted] = await Promise.all([
    sql
      .selectFrom('signing_keys')
      .select(recordColumns)
      .orderBy('created_at', 'desc')
      .orderBy('kid')
      .limit(limit)
      .offset(offset)
      .execute(),
    sql
      .selectFrom('signing_keys')
      .select((build) => build.fn.countAll().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { keys, total: Number(counted.total) };
}

export function findSigningKey(sql: Sql, kid: string): Promise<SigningKeyRecord | undefined> {
  return sql
    .selectFrom('signing_keys')
    .select(recordColumns)
    .where('kid', '=', kid)
    .executeTakeFirst();
}

/** The key in a state that only one key can be in. */
export function findKeyInState(
  sql: Sql,
  state: 'active' | 'pending',
): Promise<SigningKeyRecord | undefined> {
  return sql
    .selectFrom('signing_keys')
    .select(recordColumns)
    .where('state', '=', state)
    .executeTakeFirst();
}

export async function insertSigningKey(sql: Sql, key: SigningKeyRow): Promise<void> {
  await sql.insertInto('signing_keys').values(key).execute();
}

/** Lets a key sign; rejects while another one does. */
export async function activateKey(sql: Sql, kid: string): Promise<void> {
  await sql
    .updateTable('signing_keys')
    .set({ state: 'active', state_changed_at: new Date() })
    .where('kid', '=', kid)
    .execute();
}

/** Moves a key on to a state in which it signs no more; its private half is erased. */
export async function endSigning(
  sql: Sql,
  kid: string,
  state: 'previous' | 'revoked',
): Promise<void> {
  await sql
    .updateTable('signing_keys')
    .set({ state, state_changed_at: new Date(), private_key: '' })
    .where('kid', '=', kid)
    .execute();
}

/** Retires every key that signs no more since before a time. */
export async function retireKeys(sql: Sql, since: Date): Promise<void> {
  await sql
    .updateTable('signing_keys')
    .set({ state: 'retired', state_changed_at: new Date() })
    .where('state', '=', 'previous')
    .where('state_changed_at', '<', since)
    .execute();
}
