import { newId } from '../../kit/ids.ts';
import type { AuditEvent, AuditLog, Origin } from '../audit/audit.ts';
import type { Revoker } from '../tokens/revoker.ts';
import type { RoleTable } from '../roles/roles.ts';
import {
  findSession,
  insertSession,
  revokeSession,
  type RefreshState,
  type SessionState,
} from './session-store.ts';
import { Rotations } from './rotations.ts';
import { hashToken, openSuccessor, sealSuccessor } from './successors.ts';
import type { Sql, UserRow } from '../tables.ts';
import {
  invalidGrant,
  narrowPermissions,
  sessionLifeSeconds,
  type Grant,
  type RefreshClaims,
  type TokenMint,
} from '../tokens/tokens.ts';

/** The tokens of one login or refresh. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly permissions: readonly string[];
}

export interface SessionsOptions {
  readonly sql: Sql;
  readonly mint: TokenMint;
  readonly roles: RoleTable;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
}

export interface RefreshOptions {
  readonly scope?: string | undefined;
  readonly origin: Origin;
}

const graceMs = 10_000;

/** Login sessions: each is a family of refresh tokens of which one at a time is good. */
export class Sessions implements AsyncDisposable {
  readonly #options: SessionsOptions;
  readonly #rotations: Rotations;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#rotations = new Rotations(options.sql);
  }

  /** Opens a session for a user who has just proved to be one; undefined when disabled meanwhile. */
  async open(
    user: Pick<UserRow, 'id' | 'email' | 'name' | 'roles' | 'password_hash'>,
    clientId: string,
  ): Promise<TokenPair | undefined> {
    const now = new Date();
    const session = {
      id: newId('ses'),
      user_id: user.id,
      client_id: clientId,
      created_at: now,
      expires_at: new Date(now.getTime() + sessionLifeSeconds * 1000),
    };
    const grant = this.#grantOf(user, { id: session.id, clientId });
    const pair = await this.#signPair(grant, session.expires_at);
    const refreshTokenHash = hashToken(pair.refreshToken);
    const isOpen = await insertSession(this.#options.sql, {
      session,
      refreshTokenHash,
      passwordHash: user.password_hash,
    });
    return isOpen ? pair : undefined;
  }

  /**
   * Trades a refresh token for the next pair. It is good once; a repetition within ten seconds gets
   * the same refresh token again, as long as that was not used: then, or later, it is taken for
   * theft and ends the session (RFC 9700, section 4.14.2).
   */
  async refresh(claims: RefreshClaims, options: RefreshOptions): Promise<TokenPair> {
    if (options.scope !== undefined) await this.#requireScope(claims, options);
    const refreshToken = await this.#signSuccessor(claims);
    const rotated = await this.#rotations.rotate({
      hash: hashToken(claims.token),
      successorHash: hashToken(refreshToken),
      sealedSuccessor: sealSuccessor(claims.token, refreshToken),
    });
    if (!rotated) return this.#repeat(claims, options);
    return this.#answer({ claims, ...rotated, options, refreshToken, isRepeated: false });
  }

  /** Ends a session and all its tokens; unknown and ended ones are no error. */
  async end(sessionId: string, event: AuditEvent): Promise<void> {
    await this.#options.revoker.revoke(async (trx) => {
      const isEnded = await revokeSession(trx, sessionId, new Date());
      await this.#options.audit.recordWithin(trx, event);
      return isEnded ? [{ kind: 'session', id: sessionId }] : [];
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rotations[Symbol.asyncDispose]();
  }

  async #findGood(
    claims: RefreshClaims,
    { origin }: RefreshOptions,
  ): Promise<{ state: SessionState; token: RefreshState }> {
    const { sessionId, token } = claims;
    const state = await findSession(this.#options.sql, { sessionId, hash: hashToken(token) });
    const flaw = flawOf(state);
    if (!state || flaw) return this.#refuse(claims, { reason: flaw ?? 'token_invalid', origin });
    // It was signed here, so it is one that was consumed so long ago that it was cleared away.
    if (!state.token) return this.#endStolen(claims, origin);
    return { state, token: state.token };
  }

  /** Refuses a scope before anything is consumed for it. */
  async #requireScope(claims: RefreshClaims, options: RefreshOptions): Promise<void> {
    const { state } = await this.#findGood(claims, options);
    this.#grantIn(state, options.scope);
  }

  /** Answers a token that could not be rotated: it was consumed before, or is no good. */
  async #repeat(claims: RefreshClaims, options: RefreshOptions): Promise<TokenPair> {
    const { state, token } = await this.#findGood(claims, options);
    const ageMs = Date.now() - (token.consumedAt?.getTime() ?? 0);
    if (!token.successor || token.isSuccessorUsed || ageMs > graceMs) {
      return this.#endStolen(claims, options.origin);
    }
    const refreshToken = openSuccessor(claims.token, token.successor);
    const { generation } = token;
    return this.#answer({ claims, ...state, generation, options, refreshToken, isRepeated: true });
  }

  /** The access token is signed last: only who gets one costs it. */
  async #answer(success: Success): Promise<TokenPair> {
    const { claims, options, refreshToken, generation, isRepeated } = success;
    const grant = this.#grantIn(success, options.scope);
    const [accessToken] = await Promise.all([
      this.#signAccess(grant),
      this.#options.audit.record({
        ...eventOf(claims, options.origin),
        eventType: 'token_refreshed',
        facts: { sessionId: claims.sessionId, generation: generation + 1, isRepeated },
      }),
    ]);
    return { accessToken, refreshToken, permissions: grant.permissions };
  }

  async #refuse(
    claims: RefreshClaims,
    { reason, origin }: { readonly reason: string; readonly origin: Origin },
  ): Promise<never> {
    const facts = { sessionId: claims.sessionId, reason };
    const event = { ...eventOf(claims, origin), eventType: 'refresh_refused', facts } as const;
    await this.#options.audit.record(event);
    throw invalidGrant(reason);
  }

  async #endStolen(claims: RefreshClaims, origin: Origin): Promise<never> {
    await this.end(claims.sessionId, {
      ...eventOf(claims, origin),
      eventType: 'refresh_token_reused',
      facts: { sessionId: claims.sessionId },
    });
    throw invalidGrant('token_reused');
  }

  #grantIn(
    { session, user }: Pick<SessionState, 'session' | 'user'>,
    scope: string | undefined,
  ): Grant {
    const grant = this.#grantOf(user, { id: session.id, clientId: session.client_id });
    return { ...grant, permissions: narrowPermissions(grant.permissions, scope) };
  }

  #grantOf(
    user: Pick<UserRow, 'id' | 'email' | 'name' | 'roles'>,
    session: { readonly id: string; readonly clientId: string },
  ): Grant {
    return {
      subject: user.id,
      sessionId: session.id,
      clientId: session.clientId,
      roles: user.roles,
      permissions: this.#options.roles.permissionsOf(user.roles),
      user: { id: user.id, email: user.email, name: user.name },
    };
  }

  async #signPair(grant: Grant, expiresAt: Date): Promise<TokenPair> {
    const { mint } = this.#options;
    const [accessToken, refreshToken] = await Promise.all([
      this.#signAccess(grant),
      mint.signRefresh(grant, mint.issueTime(grant.subject), expiresAt),
    ]);
    return { accessToken, refreshToken, permissions: grant.permissions };
  }

  /** The next token of a family says what the last one did, and ends when it does. */
  #signSuccessor({ subject, sessionId, clientId, expiresAt }: RefreshClaims): Promise<string> {
    const { mint } = this.#options;
    const holder = { subject, sessionId, clientId };
    return mint.signRefresh(holder, mint.issueTime(subject), new Date(expiresAt * 1000));
  }

  #signAccess(grant: Grant): Promise<string> {
    const { mint } = this.#options;
    return mint.signAccess(grant, mint.issueTime(grant.subject));
  }
}

/** A refresh that is to be answered with tokens. */
interface Success extends Pick<SessionState, 'session' | 'user'> {
  readonly claims: RefreshClaims;
  readonly options: RefreshOptions;
  readonly refreshToken: string;
  /** Of the token that was presented. */
  readonly generation: number;
  readonly isRepeated: boolean;
}

/** Why a session gives no more tokens; undefined when it does. */
function flawOf(state: SessionState | undefined): string | undefined {
  if (!state) return 'token_invalid';
  if (state.session.revoked_at) return 'token_revoked';
  if (state.session.expires_at.getTime() <= Date.now()) return 'token_expired';
  return state.user.disabled ? 'user_disabled' : undefined;
}

function eventOf({ subject, clientId }: RefreshClaims, origin: Origin) {
  return { userId: subject, clientId, origin, provider: 'refresh-token' };
}
