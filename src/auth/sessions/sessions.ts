import { Fault } from '../../kit/errors.ts';
import { mayGrant } from '../../kit/permissions.ts';
import { newId } from '../../kit/ids.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent, Origin } from '../audit/audit-event.ts';
import { signHere } from '../keys/compact-token.ts';
import type { RoleTable } from '../roles/roles.ts';
import {
  bucketAfterTake,
  bucketBeforeTake,
  refusalOf,
  type AttemptRate,
} from '../limits/attempt-limits.ts';
import {
  findSession,
  revokeSession,
  takeRefresh,
  type FoundSession,
  type SessionState,
  type TokenHolder,
} from './session-store.ts';
import type { Grace } from './grace.ts';
import { Openings } from './openings.ts';
import { recordRefusal, refreshEventOf, type RefreshRefusal } from './refresh-refusals.ts';
import { Rotations } from './rotations.ts';
import { hashToken, keyIdOf, openSuccessor, sealSuccessor, standingOf } from './successors.ts';
import type { Sql, UserRow } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
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
  readonly grace: Grace;
  /** How often one session may refresh. */
  readonly rate: AttemptRate;
}

export interface RefreshOptions {
  readonly scope?: string | undefined;
  readonly origin: Origin;
  /** Told how the session's bucket of refreshes stands, before the answer or a refusal. */
  readonly onAllowance?: (allowance: Allowance) => void;
}

/** Login sessions: each is a family of refresh tokens of which one at a time is good. */
export class Sessions implements AsyncDisposable {
  readonly #options: SessionsOptions;
  readonly #openings: Openings;
  readonly #rotations: Rotations;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#openings = new Openings(options.sql);
    this.#rotations = new Rotations(options.sql, options.rate);
  }

  /**
   * Opens a session for a user who has just proved to be one, and records that in the same statement.
   * Undefined, with nothing recorded, when the user was disabled meanwhile.
   */
  async open(
    user: Pick<UserRow, 'id' | 'password_hash'>,
    { clientId, event }: { readonly clientId: string; readonly event: AuditEvent },
  ): Promise<TokenPair | undefined> {
    const now = new Date();
    const session = {
      id: newId('ses'),
      user_id: user.id,
      client_id: clientId,
      created_at: now,
      expires_at: new Date(now.getTime() + sessionLifeSeconds * 1000),
    };
    const { mint, audit } = this.#options;
    const holder = { subject: user.id, sessionId: session.id, clientId };
    const refreshToken = await mint.signRefresh(holder, session.expires_at);
    const row = {
      ...session,
      token_hash: hashToken(refreshToken),
      token_kid: keyIdOf(refreshToken),
    };
    const passwordHash = user.password_hash;
    const opened = await audit.recordWith(event, (record) =>
      this.#openings.ask({ session: row, passwordHash, record }),
    );
    if (!opened) return undefined;
    const grant = this.#grantOf(opened.user, { id: session.id, clientId });
    // Logins come one by one, for each has waited for its password's hash or a provider.
    const accessToken = await mint.signAccess(grant, { signing: signHere });
    return { accessToken, refreshToken, permissions: grant.permissions };
  }

  /**
   * Trades a refresh token for the next pair. It is good once; a repetition within the grace gets
   * the same refresh token again, as long as that was not used: then, or later, it is taken for
   * theft and ends the session (RFC 9700, section 4.14.2).
   */
  async refresh(claims: RefreshClaims, options: RefreshOptions): Promise<TokenPair> {
    if (options.scope !== undefined) await this.#requireScope(claims, options);
    const refreshToken = await this.#signSuccessor(claims);
    const rotated = await this.#rotations.ask({
      sessionId: claims.sessionId,
      hash: hashToken(claims.token),
      successorHash: hashToken(refreshToken),
      successorKid: keyIdOf(refreshToken),
      sealedSuccessor: sealSuccessor(claims.token, refreshToken),
    });
    if (!rotated) return this.#repeat(claims, options);
    options.onAllowance?.(bucketAfterTake(this.#options.rate, rotated.fullInSeconds));
    return this.#answer({ claims, ...rotated, options, refreshToken, isRepeated: false });
  }

  /**
   * Throws what `refresh` would, before something else is done for it; takes nothing. Answers whether
   * the token has given way to its successor already, and for how long the good one has been so.
   */
  async requireRefreshable(
    claims: RefreshClaims,
    options: RefreshOptions,
  ): Promise<{ readonly isRepeated: boolean; readonly tokenAgeMs: number }> {
    const found = await this.#findGood(claims, options);
    this.#requireAllowance(found, options);
    const isRepeated = standingOf(found.session, claims.token) === 'previous';
    return { isRepeated, tokenAgeMs: found.tokenAgeMs };
  }

  /** Ends a session and all its tokens; unknown and ended ones are no error. */
  async end(sessionId: string, event: AuditEvent): Promise<void> {
    await this.#options.revoker.revoke(async (trx) => {
      const isEnded = await revokeSession(trx, sessionId, new Date());
      await this.#options.audit.recordWithin(trx, event);
      return isEnded ? [{ kind: 'session', id: sessionId }] : [];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.#openings[Symbol.asyncDispose](),
      this.#rotations[Symbol.asyncDispose](),
    ]);
  }

  /** The session, when it goes on and the token is its good one or the one before. */
  async #findGood(claims: RefreshClaims, { origin }: RefreshOptions): Promise<FoundSession> {
    const found = await findSession(this.#options.sql, claims.sessionId);
    const flaw = flawOf(found);
    if (!found || flaw) return this.#refuse(claims, { reason: flaw ?? 'token_invalid', origin });
    if (standingOf(found.session, claims.token) !== 'older') return found;
    // It was signed here, so it was good once.
    return this.#endStolen(claims, origin);
  }

  /** Refuses a scope before anything is consumed for it. */
  async #requireScope(claims: RefreshClaims, options: RefreshOptions): Promise<void> {
    const found = await this.#findGood(claims, options);
    try {
      this.#grantIn(found, options.scope);
    } catch (error) {
      await recordRefusal(this.#options.audit, claims, {
        reason: 'invalid_scope',
        origin: options.origin,
      });
      throw error;
    }
  }

  /** Answers a token that could not be rotated: it was before, or is no good, or may not be now. */
  async #repeat(claims: RefreshClaims, options: RefreshOptions): Promise<TokenPair> {
    const found = await this.#findGood(claims, options);
    const { sealed_token: sealed, generation } = found.session;
    if (standingOf(found.session, claims.token) === 'good' || !sealed) {
      this.#requireAllowance(found, options);
      throw new Fault('unavailable', 'the session has just changed: try again', { retryAfter: 1 });
    }
    if (!this.#options.grace.covers(found)) return this.#endStolen(claims, options.origin);
    await this.#takeRefresh(found, options);
    const refreshToken = openSuccessor(claims.token, sealed);
    const session = { ...found.session, generation: generation - 1 };
    return this.#answer({ ...found, session, claims, options, refreshToken, isRepeated: true });
  }

  /** Counts a refresh that rotates nothing. */
  async #takeRefresh(found: FoundSession, options: RefreshOptions): Promise<void> {
    const { sql, rate } = this.#options;
    const fullInSeconds = await takeRefresh(sql, found.session.id, rate);
    if (fullInSeconds === undefined) this.#requireAllowance(found, options);
    else options.onAllowance?.(bucketAfterTake(rate, fullInSeconds));
  }

  #requireAllowance({ fullInSeconds }: FoundSession, { onAllowance }: RefreshOptions): void {
    const { rate } = this.#options;
    const allowance = bucketBeforeTake(rate, fullInSeconds);
    onAllowance?.(allowance);
    if (!allowance.isAllowed) throw refusalOf(rate, allowance.retryAfter);
  }

  /** The access token is signed last: only who gets one costs it. */
  async #answer(success: Success): Promise<TokenPair> {
    const { claims, options, session, refreshToken, isRepeated } = success;
    const grant = this.#grantIn(success, options.scope);
    const [accessToken] = await Promise.all([
      this.#options.mint.signAccess(grant),
      this.#options.audit.record({
        ...refreshEventOf(claims, options.origin),
        eventType: 'token_refreshed',
        facts: { sessionId: claims.sessionId, generation: session.generation + 1, isRepeated },
      }),
    ]);
    return { accessToken, refreshToken, permissions: grant.permissions };
  }

  async #refuse(claims: RefreshClaims, refusal: RefreshRefusal): Promise<never> {
    await recordRefusal(this.#options.audit, claims, refusal);
    throw invalidGrant(refusal.reason);
  }

  async #endStolen(claims: RefreshClaims, origin: Origin): Promise<never> {
    await this.end(claims.sessionId, {
      ...refreshEventOf(claims, origin),
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
    const permissions = narrowPermissions(grant.permissions, scope);
    return { ...grant, permissions, isNarrowed: !mayGrant(permissions, grant.permissions) };
  }

  #grantOf(user: TokenHolder, session: { readonly id: string; readonly clientId: string }): Grant {
    const { roles } = this.#options;
    return {
      subject: user.id,
      sessionId: session.id,
      clientId: session.clientId,
      roles: roles.rolesOf(user),
      permissions: roles.permissionsOf(user),
      user: { id: user.id, email: user.email, name: user.name },
      tokenEpoch: user.token_epoch,
    };
  }

  /** The next token of a family says what the last one did, and ends when it does. */
  #signSuccessor({ subject, sessionId, clientId, expiresAt }: RefreshClaims): Promise<string> {
    const holder = { subject, sessionId, clientId };
    return this.#options.mint.signRefresh(holder, new Date(expiresAt * 1000));
  }
}

/** A refresh that is to be answered with tokens; the generation is that of the token shown. */
interface Success extends Pick<SessionState, 'session' | 'user'> {
  readonly claims: RefreshClaims;
  readonly options: RefreshOptions;
  readonly refreshToken: string;
  readonly isRepeated: boolean;
}

/** Why a session gives no more tokens; undefined when it does. */
function flawOf(found: FoundSession | undefined): string | undefined {
  if (!found) return 'token_invalid';
  if (found.session.revoked_at) return 'token_revoked';
  if (found.session.expires_at.getTime() <= Date.now()) return 'token_expired';
  return found.isDisabled ? 'user_disabled' : undefined;
}
