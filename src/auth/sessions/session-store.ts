import { sql as raw } from 'kysely';
import { auditArrays } from '../audit/audit-store.ts';
import type { AuditRecord } from '../audit/chain.ts';
import type { AttemptRate } from '../limits/attempt-limits.ts';
import type { SessionRow, Sql, UserRow } from '../tables.ts';

export type NewSession = Pick<
  SessionRow,
  'id' | 'user_id' | 'client_id' | 'created_at' | 'expires_at' | 'token_hash' | 'token_kid'
>;

/** Of a user what access tokens state. */
export type TokenHolder = Pick<
  UserRow,
  'id' | 'email' | 'name' | 'roles' | 'groups' | 'token_epoch'
>;

/** Whose session it is and what its next tokens say. */
export interface SessionState {
  readonly session: Pick<SessionRow, 'id' | 'client_id' | 'generation'>;
  readonly user: TokenHolder;
  /** Until the bucket of refreshes is full. */
  readonly fullInSeconds: number;
}

/** A session with all that decides whether one of its refresh tokens is still good. */
export interface FoundSession extends SessionState {
  readonly session: SessionRow;
  readonly isDisabled: boolean;
  /** How long ago the good token was issued, by the database's clock. */
  readonly tokenAgeMs: number;
}

interface StateRow
  extends Pick<SessionRow, 'id' | 'user_id' | 'client_id' | 'generation'>, Omit<TokenHolder, 'id'> {
  readonly full_in: number;
}

/** A session that is to begin. */
export interface Opening {
  readonly session: NewSession;
  /** The hash that the password was checked with; null where the user has none. */
  readonly passwordHash: string | null;
  /** What the audit is to say of it. */
  readonly record: AuditRecord;
}

/** A session that has begun. */
export interface Opened {
  /** The number of its event. */
  readonly seq: number;
  /** As they are at this moment, which may be other than when the login began. */
  readonly user: TokenHolder;
}

interface OpenedRow {
  readonly seq: number | null;
  readonly user_email: string;
  readonly user_name: string;
  readonly user_roles: string[];
  readonly user_groups: string[] | null;
  readonly epoch: number;
}

/**
 * Opens sessions with their first refresh tokens, notes the logins and appends their events, all in
 * one statement. Undefined, and nothing happened, for a user who is gone or disabled by now, or no
 * longer has the password that the login was checked with.
 */
export async function insertSessions(
  sql: Sql,
  openings: readonly Opening[],
): Promise<(Opened | undefined)[]> {
  const sessions = openings.map(({ session }) => session);
  const records = openings.map(({ record }) => record);
  const { rows } = await raw<OpenedRow>`
    select * from auth.open_sessions(
      ${sessions.map(({ id }) => id)}::text[],
      ${sessions.map(({ user_id }) => user_id)}::text[],
      ${openings.map(({ passwordHash }) => passwordHash)}::text[],
      ${sessions.map(({ client_id }) => client_id)}::text[],
      ${sessions.map(({ created_at }) => created_at)}::timestamptz[],
      ${sessions.map(({ expires_at }) => expires_at)}::timestamptz[],
      ${sessions.map(({ token_hash }) => token_hash)}::bytea[],
      ${sessions.map(({ token_kid }) => token_kid)}::text[],
      ${auditArrays(records)})
  `.execute(sql);
  return rows.map((row, at) => toOpened(row, sessions[at]?.user_id ?? ''));
}

function toOpened(row: OpenedRow, id: string): Opened | undefined {
  const { seq, user_email: email, user_name: name, user_roles: roles, user_groups: groups } = row;
  if (seq === null) return undefined;
  return { seq, user: { id, email, name, roles, groups, token_epoch: row.epoch } };
}

/** A session with its user, in one statement. */
export async function findSession(sql: Sql, id: string): Promise<FoundSession | undefined> {
  type Row = SessionRow & StateRow & { readonly disabled: boolean; readonly age: number };
  const { rows } = await raw<Row>`
    select s.*, u.email, u.name, u.roles, u.groups, u.token_epoch, u.disabled,
      extract(epoch from greatest(s.refreshes_full_at, now()) - now())::float8 as full_in,
      extract(epoch from now() - s.token_issued_at)::float8 as age
    from auth.sessions s join auth.users u on u.id = s.user_id
    where s.id = ${id}
  `.execute(sql);
  const [row] = rows;
  if (!row) return undefined;
  return { ...toState(row), session: row, isDisabled: row.disabled, tokenAgeMs: row.age * 1000 };
}

/** One refresh token that is to give way to its successor. */
export interface Rotation {
  readonly sessionId: string;
  readonly hash: Buffer;
  readonly successorHash: Buffer;
  /** The signing key that the successor goes by. */
  readonly successorKid: string;
  readonly sealedSuccessor: Buffer;
}

/**
 * Puts successors in the place of refresh tokens, all in one statement, and takes a refresh from
 * each session's bucket: of several rotations of one token exactly one succeeds. The answer holds the
 * states before, by the hex of the successor's hash; tokens that are not the good one of their
 * session, whose session or user has ended, or whose bucket is empty, are not in it.
 */
export async function rotateRefreshTokens(
  sql: Sql,
  rotations: readonly Rotation[],
  { attempts, windowSeconds }: AttemptRate,
): Promise<ReadonlyMap<string, SessionState>> {
  const spacing = windowSeconds / attempts;
  const { rows } = await raw<StateRow & { readonly successor_key: string }>`
    update auth.sessions s
    set generation = s.generation + 1, token_hash = decode(w.successor_hash, 'hex'),
      token_kid = w.successor_kid, token_issued_at = now(), previous_hash = s.token_hash,
      sealed_token = decode(w.successor, 'base64'),
      refreshes_full_at = greatest(s.refreshes_full_at, now()) + ${spacing} * interval '1 s'
    from unnest(
      ${rotations.map(({ sessionId }) => sessionId)}::text[],
      ${rotations.map(({ hash }) => hash.toString('hex'))}::text[],
      ${rotations.map(({ successorHash }) => successorHash.toString('hex'))}::text[],
      ${rotations.map(({ successorKid }) => successorKid)}::text[],
      ${rotations.map(({ sealedSuccessor }) => sealedSuccessor.toString('base64'))}::text[]
    ) as w (id, hash, successor_hash, successor_kid, successor), auth.users u
    where s.id = w.id and s.token_hash = decode(w.hash, 'hex')
      and s.revoked_at is null and s.expires_at > now()
      and u.id = s.user_id and not u.disabled
      and s.refreshes_full_at <= now() + ${windowSeconds - spacing} * interval '1 s'
    returning w.successor_hash as successor_key, s.id, s.user_id, s.client_id,
      s.generation - 1 as generation, u.email, u.name, u.roles, u.groups, u.token_epoch,
      extract(epoch from s.refreshes_full_at - now())::float8 as full_in
  `.execute(sql);
  return new Map(rows.map((row) => [row.successor_key, toState(row)]));
}

/** Takes a refresh from the session's bucket: seconds until it is full; undefined when it is empty. */
export async function takeRefresh(
  sql: Sql,
  sessionId: string,
  { attempts, windowSeconds }: AttemptRate,
): Promise<number | undefined> {
  const spacing = windowSeconds / attempts;
  const { rows } = await raw<{ full_in: number }>`
    update auth.sessions
    set refreshes_full_at = greatest(refreshes_full_at, now()) + ${spacing} * interval '1 s'
    where id = ${sessionId}
      and refreshes_full_at <= now() + ${windowSeconds - spacing} * interval '1 s'
    returning extract(epoch from refreshes_full_at - now())::float8 as full_in
  `.execute(sql);
  return rows[0]?.full_in;
}

function toState(row: StateRow): SessionState {
  const { id, user_id, client_id, generation, full_in } = row;
  const { email, name, roles, groups, token_epoch } = row;
  return {
    session: { id, client_id, generation },
    user: { id: user_id, email, name, roles, groups, token_epoch },
    fullInSeconds: full_in,
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

/** Removes sessions that have expired. */
export async function deleteOldSessions(sql: Sql, now: Date): Promise<void> {
  await sql.deleteFrom('sessions').where('expires_at', '<', now).execute();
}
