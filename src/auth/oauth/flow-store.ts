import type { OAuthFlowRow, Sql } from '../tables.ts';

/** A flow before anything was traded in it. */
export type NewFlow = Omit<
  OAuthFlowRow,
  'consumed_at' | 'code_hash' | 'session_id' | 'replayed_at'
>;

/** False, and nothing changes, when the challenge was used before. */
export async function insertFlow(sql: Sql, flow: NewFlow): Promise<boolean> {
  const made = await sql
    .insertInto('oauth_flows')
    .values(flow)
    .onConflict((conflict) => conflict.column('challenge').doNothing())
    .returning('challenge')
    .execute();
  return made.length === 1;
}

export function findFlow(sql: Sql, challenge: string): Promise<OAuthFlowRow | undefined> {
  return sql
    .selectFrom('oauth_flows')
    .selectAll()
    .where('challenge', '=', challenge)
    .executeTakeFirst();
}

/** The flow that both the state and the browser's cookie name. */
export function findBoundFlow(
  sql: Sql,
  { state, binding }: { readonly state: string; readonly binding: Buffer },
): Promise<OAuthFlowRow | undefined> {
  return sql
    .selectFrom('oauth_flows')
    .selectAll()
    .where('binding', '=', binding)
    .where('state', '=', state)
    .executeTakeFirst();
}

/** Takes a flow for this code; of many at once exactly one is answered true. */
export async function consumeFlow(
  sql: Sql,
  { challenge, codeHash, at }: { readonly challenge: string; codeHash: Buffer; at: Date },
): Promise<boolean> {
  const taken = await sql
    .updateTable('oauth_flows')
    .set({ consumed_at: at, code_hash: codeHash })
    .where('challenge', '=', challenge)
    .where('consumed_at', 'is', null)
    .where('expires_at', '>', at)
    .returning('challenge')
    .execute();
  return taken.length === 1;
}

/** Notes the session that a flow gave; true when its code was presented again meanwhile. */
export async function finishFlow(
  sql: Sql,
  { challenge, sessionId }: { readonly challenge: string; readonly sessionId: string },
): Promise<boolean> {
  const flow = await sql
    .updateTable('oauth_flows')
    .set({ session_id: sessionId })
    .where('challenge', '=', challenge)
    .returning('replayed_at')
    .executeTakeFirst();
  return flow?.replayed_at !== null;
}

/** Notes that a traded code came again; the flows that it had been traded in. */
export function markReplayed(sql: Sql, codeHash: Buffer, at: Date): Promise<OAuthFlowRow[]> {
  return sql
    .updateTable('oauth_flows')
    .set({ replayed_at: at })
    .where('code_hash', '=', codeHash)
    .returningAll()
    .execute();
}

/** Removes flows that led nowhere, and those that were consumed before `consumedBefore`. */
export async function deleteOldFlows(
  sql: Sql,
  { now, consumedBefore }: { readonly now: Date; readonly consumedBefore: Date },
): Promise<void> {
  await sql
    .deleteFrom('oauth_flows')
    .where('expires_at', '<', now)
    .where((row) => row('consumed_at', 'is', null).or('consumed_at', '<', consumedBefore))
    .execute();
}
