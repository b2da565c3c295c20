import { sql as raw } from 'kysely';
import type { SessionRow, Sql } from '../tables.ts';

export interface NewSession {
  readonly session: Omit<SessionRow, 'revoked_at'>;
  readonly refreshTokenHash: Buffer;
}

/** A refresh token with all that decides whether it is still good. */
export interface RefreshState {
  readonly generation: number;
  readonly consumedAt: Date | null;
  readonly successor: Buffer | null;
  /** The successor was used, so whoever holds it has received it. */
  readonly isSuccessorUsed: boolean;
}

/** A session with what its next tokens say. */
export interface SessionState {
  readonly session: SessionRow;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly roles: string[];
    readonly disabled: boolean;
  };
  /** Absent when the session knows no such token, or no longer. */
  readonly token: RefreshState | undefined;
}

/**
 * Opens a session with its first refresh token and notes the login, in one statement. False, and
 * nothing happened, when the user is gone or disabled by now.
 */
export async function insertSession(sql: Sql, { session, refreshTokenHash }: NewSession) {
  const { rows } = await raw`
    with account as (
      update auth.users set last_login_at = ${session.created_at}
      where id = ${session.user_id} and not disabled
      returning id
    ), opened as (
      insert into auth.sessions (id, user_id, client_id, created_at, expires_at)
      select ${session.id}, id, ${session.client_id}::text,
        ${session.created_at}::timestamptz, ${session.expires_at}::timestamptz
      from account
      returning id, created_at
    )
    insert into auth.refresh_tokens (hash, session_id, generation, issued_at)
    select ${refreshTokenHash}::bytea, id, 0, created_at from opened
    returning session_id
  `.execute(sql);
  return rows.length === 1;
}

/** A session, its user, and the refresh token of the hash, in one statement. */
export async function findSession(
  sql: Sql,
  { sessionId, hash }: { readonly sessionId: string; readonly hash: Buffer },
): Promise<SessionState | undefined> {
  const row = await sql
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .leftJoin('refresh_tokens as t', (join) =>
      join.onRef('t.session_id', '=', 's.id').on('t.hash', '=', hash),
    )
    .leftJoin('refresh_tokens as n', (join) =>
      join
        .onRef('n.session_id', '=', 's.id')
        .on(({ eb }) => eb('n.generation', '=', eb('t.generation', '+', 1))),
    )
    .selectAll('s')
    .select(['u.email', 'u.name', 'u.roles', 'u.disabled'])
    .select(['t.generation', 't.consumed_at', 't.successor', 'n.consumed_at as successor_used_at'])
    .where('s.id', '=', sessionId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { email, name, roles, disabled, generation, consumed_at, successor, ...rest } = row;
  const { successor_used_at, ...session } = rest;
  return {
    session,
    user: { id: session.user_id, email, name, roles, disabled },
    token:
      generation === null
        ? undefined
        : {
            generation,
            consumedAt: consumed_at,
            successor,
            isSuccessorUsed: successor_used_at !== null,
          },
  };
}

export interface Rotation {
  readonly hash: Buffer;
  readonly successorHash: Buffer;
  readonly sealedSuccessor: Buffer;
  readonly at: Date;
}

/**
 * Consumes a refresh token and stores its successor, in one statement: of many at once exactly one
 * is answered true. False as well when the session was revoked meanwhile.
 */
export async function rotateRefreshToken(sql: Sql, rotation: Rotation): Promise<boolean> {
  const { rows } = await raw`
    with consumed as (
      update auth.refresh_tokens t
      set consumed_at = ${rotation.at}, successor = ${rotation.sealedSuccessor}
      from auth.sessions s
      where t.hash = ${rotation.hash} and t.consumed_at is null
        and s.id = t.session_id and s.revoked_at is null and s.expires_at > ${rotation.at}
      returning t.session_id, t.generation
    )
    insert into auth.refresh_tokens (hash, session_id, generation, issued_at)
    select ${rotation.successorHash}::bytea, session_id, generation + 1, ${rotation.at}::timestamptz
    from consumed
    returning session_id
  `.execute(sql);
  return rows.length === 1;
}

/** False when the session is unknown or was revoked before. */
export async function revokeSession(sql: Sql, id: string, at: Date): Promise<boolean> {
  const revoked = await sql
    .updateTable('sessions')
    .set({ revoked_at: at })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return revoked.length === 1;
}

/** The ids of the user's sessions that were open until now. */
export async function revokeSessionsOf(sql: Sql, userId: string, at: Date): Promise<string[]> {
  const revoked = await sql
    .updateTable('sessions')
    .set({ revoked_at: at })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at)
    .returning('id')
    .execute();
  return revoked.map(({ id }) => id);
}

/** Removes sessions that have expired, and refresh tokens consumed before `consumedBefore`. */
export async function deleteOldSessions(
  sql: Sql,
  { now, consumedBefore }: { readonly now: Date; readonly consumedBefore: Date },
): Promise<void> {
  await sql.deleteFrom('sessions').where('expires_at', '<', now).execute();
  await sql.deleteFrom('refresh_tokens').where('consumed_at', '<', consumedBefore).execute();
}
