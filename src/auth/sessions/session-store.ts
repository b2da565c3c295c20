import { sql as raw } from 'kysely';
import type { SessionRow, Sql } from '../tables.ts';

export interface NewSession {
  /** What the user logged in with: a session is refused when the password has changed meanwhile. */
  readonly passwordHash: string | null;
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
 * nothing happened, when the user is gone or disabled by now, or has another password.
 */
export async function insertSession(
  sql: Sql,
  { session, refreshTokenHash, passwordHash }: NewSession,
) {
  const { rows } = await raw`
    with account as (
      update auth.users set last_login_at = ${session.created_at}
      where id = ${session.user_id} and not disabled
        and password_hash is not distinct from ${passwordHash}
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

/** One refresh token that is to give way to its successor. */
export interface Rotation {
  readonly hash: Buffer;
  readonly successorHash: Buffer;
  readonly sealedSuccessor: Buffer;
}

/** A session whose refresh token was consumed by a rotation. */
export interface RotatedSession extends Pick<SessionState, 'session' | 'user'> {
  /** Of the token that was consumed. */
  readonly generation: number;
}

/**
 * Consumes refresh tokens and stores their successors, all in one statement: of several rotations of
 * one token exactly one succeeds. The answer holds those that did, by the hex of their successor's
 * hash; tokens that were consumed before, or whose session or user has ended, are not in it.
 */
export async function rotateRefreshTokens(
  sql: Sql,
  rotations: readonly Rotation[],
  at: Date,
): Promise<ReadonlyMap<string, RotatedSession>> {
  const { rows } = await raw<RotatedRow>`
    with wanted as (
      select decode(hash, 'hex') as hash, decode(successor_hash, 'hex') as successor_hash,
        decode(successor, 'base64') as successor
      from unnest(
        ${rotations.map(({ hash }) => hash.toString('hex'))}::text[],
        ${rotations.map(({ successorHash }) => successorHash.toString('hex'))}::text[],
        ${rotations.map(({ sealedSuccessor }) => sealedSuccessor.toString('base64'))}::text[]
      ) as rotation (hash, successor_hash, successor)
    ), consumed as (
      update auth.refresh_tokens t
      set consumed_at = ${at}, successor = w.successor
      from wanted w, auth.sessions s, auth.users u
      where t.hash = w.hash and t.consumed_at is null
        and s.id = t.session_id and s.revoked_at is null and s.expires_at > ${at}
        and u.id = s.user_id and not u.disabled
      returning w.successor_hash, t.generation, s.id, s.user_id, s.client_id, s.created_at,
        s.expires_at, u.email, u.name, u.roles
    ), successors as (
      insert into auth.refresh_tokens (hash, session_id, generation, issued_at)
      select successor_hash, id, generation + 1, ${at}::timestamptz from consumed
    )
    select encode(successor_hash, 'hex') as successor_key, consumed.* from consumed
  `.execute(sql);
  return new Map(rows.map((row) => [row.successor_key, toRotated(row)]));
}

interface RotatedRow extends Omit<SessionRow, 'revoked_at'> {
  readonly successor_key: string;
  readonly generation: number;
  readonly email: string;
  readonly name: string;
  readonly roles: string[];
}

function toRotated(row: RotatedRow): RotatedSession {
  const { id, user_id, client_id, created_at, expires_at, email, name, roles, generation } = row;
  return {
    session: { id, user_id, client_id, created_at, expires_at, revoked_at: null },
    user: { id: user_id, email, name, roles, disabled: false },
    generation,
  };
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
