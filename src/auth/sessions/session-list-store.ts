import { sql as raw } from 'kysely';
import type { Sql } from '../tables.ts';

/** An open session with its last use. */
export interface OpenSession {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date;
}

export interface SessionQuery {
  readonly userId: string;
  readonly limit: number;
  readonly offset: number;
}

/** A session is over as well when the key of its refresh token was revoked, whoever still refreshed. */
const hasLivingKey = raw<boolean>`not exists (
  select from auth.signing_keys k where k.kid = token_kid and k.state = 'revoked'
)`;

/** One page of the open sessions of a user, the newest first, and how many there are. */
export async function listOpenSessions(
  sql: Sql,
  { userId, limit, offset }: SessionQuery,
): Promise<{ sessions: OpenSession[]; total: number }> {
  const now = new Date();
  const [sessions, count] = await Promise.all([
    raw<OpenSession>`
      select s.id, s.user_id, s.client_id, s.created_at, s.expires_at,
        s.token_issued_at as last_used_at
      from auth.sessions s
      where s.user_id = ${userId} and s.revoked_at is null and s.expires_at > ${now}
        and ${hasLivingKey}
      order by s.id desc limit ${limit} offset ${offset}
    `.execute(sql),
    raw<{ total: number }>`
      select count(*) as total from auth.sessions
      where user_id = ${userId} and revoked_at is null and expires_at > ${now}
        and ${hasLivingKey}
    `.execute(sql),
  ]);
  return { sessions: sessions.rows, total: count.rows[0]?.total ?? 0 };
}

export interface OpenSessionChoice {
  /** Only this session. */
  readonly id?: string | undefined;
  /** Only sessions of this user. */
  readonly userId?: string | undefined;
  /** All but this session. */
  readonly exceptId?: string | undefined;
}

/** Ends the open sessions of the choice, which names a session or a user; answers whose they were. */
export function endOpenSessions(
  sql: Sql,
  { id, userId, exceptId }: OpenSessionChoice,
): Promise<{ id: string; user_id: string }[]> {
  const now = new Date();
  return sql
    .updateTable('sessions')
    .set({ revoked_at: now })
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where(hasLivingKey)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .$if(id === undefined || userId !== undefined, (query) =>
      query.where('user_id', '=', userId ?? ''),
    )
    .$if(exceptId !== undefined, (query) => query.where('id', '!=', exceptId ?? ''))
    .returning(['id', 'user_id'])
    .execute();
}
