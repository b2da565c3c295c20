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

/** How many codes may be tried in one flow. */
export const codeAttemptsMax = 5;

/** Takes a flow for this code; of many at once exactly one is answered true. */
export async function consumeFlow(
  sql: Sql,
  { challenge, codeHash, at }: { readonly challenge: string; codeHash: Buffer; at: Date },
): Promise<boolean> {
  const taken = await sql
    .updateTable('oauth_flows')
    .set(({ eb }) => ({
      consumed_at: at,
      code_hash: codeHash,
      attempts: eb('attempts', '+', 1),
    }))
    .where('challenge', '=', challenge)
    .where('consumed_at', 'is', null)
    .where('attempts', '<', codeAttemptsMax)
    .where('expires_at', '>', at)
    .returning('challenge')
    .execute();
  return taken.length === 1;
}

/** Gives a flow back that was taken for a code which led nowhere; nothing is left of that code. */
export async function releaseFlow(
  sql: Sql,
  { challenge, codeHash }: { readonly challenge: string; readonly codeHash: Buffer },
): Promise<void> {
  await sql
    .updateTable('oauth_flows')
    .set({ consumed_at: null, code_hash: null })
    .where('challenge', '=', challenge)
    .where('code_hash', '=', codeHash)
    .where('session_id', 'is', null)
    .execute();
}

/** Notes the session that a flow gave: from now on its code ends it. */
export async function finishFlow(
  sql: Sql,
  { challenge, sessionId }: { readonly challenge: string; readonly sessionId: string },
): Promise<void> {
  await sql
    .updateTable('oauth_flows')
    .set({ session_id: sessionId })
    .where('challenge', '=', challenge)
    .execute();
}

/**
 * Notes that the code of a flow came again; false, and nothing changes, for any other code, and for one that
 * came before the session of the first was opened.
 */
export async function markReplayed(
  sql: Sql,
  { challenge, codeHash, at }: { readonly challenge: string; codeHash: Buffer; at: Date },
): Promise<boolean> {
  const marked = await sql
    .updateTable('oauth_flows')
    .set({ replayed_at: at })
    .where('challenge', '=', challenge)
    .where('code_hash', '=', codeHash)
    .where((flow) =>
      flow.not(
        flow.exists(
          flow
            .selectFrom('sessions')
            .select('sessions.id')
            .whereRef('sessions.id', '=', 'oauth_flows.session_id')
            .where('sessions.created_at', '>', at),
        ),
      ),
    )
    .returning('challenge')
    .execute();
  return marked.length === 1;
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
