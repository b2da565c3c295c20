import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Fault } from '../../kit/errors.ts';
import { tokenEpochOf } from '../../kit/identity/claims.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Verifier } from '../../kit/identity/verifier.ts';
import { allows } from '../../kit/permissions.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent, Origin } from '../audit/audit-event.ts';
import type { Revoker } from './revoker.ts';
import { findSession } from '../sessions/session-store.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Sql } from '../tables.ts';
import type { RefreshClaims, TokenMint } from './tokens.ts';

export interface TokenRevocationOptions {
  readonly sql: Sql;
  readonly verifier: Verifier;
  readonly mint: TokenMint;
  readonly sessions: Sessions;
  readonly revoker: Revoker;
  readonly audit: AuditLog;
}

/** Who wants a token revoked. */
export interface Revoking {
  readonly identity: Identity;
  readonly origin: Origin;
}

/** What became of it; without an id the text was no token of this suite. */
export interface RevocationResult {
  /** False for what has expired by itself, too. */
  readonly isRevoked: boolean;
  readonly tokenId?: string | undefined;
  /** When it was revoked the first time; a repetition changes nothing. Absent when its user is gone. */
  readonly revokedAt?: Date | undefined;
}

type Found =
  | { readonly use: 'none'; readonly tokenId: string; readonly revokedAt: Date | undefined }
  | { readonly use: 'access'; readonly token: Identity }
  | { readonly use: 'refresh'; readonly token: RefreshClaims };

/** Ends single tokens for those who hold them (RFC 7009). */
export class TokenRevocation {
  readonly #options: TokenRevocationOptions;

  constructor(options: TokenRevocationOptions) {
    this.#options = options;
  }

  /**
   * Ends an access token, or with a refresh token its whole session. Throws `forbidden` for somebody
   * else's token, unless the caller holds `auth:admin`; a token that is no good any more is no error
   * (RFC 7009, section 2.2), nor is what never was one.
   */
  async revoke(text: string, by: Revoking): Promise<RevocationResult> {
    const found = await this.#find(text);
    if (!found) return { isRevoked: false };
    if (found.use === 'none') {
      const { tokenId, revokedAt } = found;
      return { isRevoked: revokedAt !== undefined, tokenId, revokedAt };
    }
    const { subject, tokenId, sessionId } = found.token;
    const facts = { tokenId, sessionId, subject, tokenUse: found.use };
    await this.#requireRight(subject, { by, facts });
    const event = eventOf(by, 'token_revoked', facts);
    const revokedAt =
      found.use === 'refresh'
        ? await this.#endSession(found.token, event)
        : await this.#endAccess(found.token, event);
    return { isRevoked: true, tokenId, revokedAt };
  }

  /** The good token behind a text, or when one that is no good was revoked. */
  async #find(text: string): Promise<Found | undefined> {
    try {
      return { use: 'access', token: await this.#options.verifier.verify(text) };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
      if (error.detail['reason'] !== 'token_invalid') return this.#ended(text);
    }
    try {
      return { use: 'refresh', token: await this.#options.mint.readRefresh(text) };
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'invalid_grant') throw error;
      return error.detail['reason'] === 'token_expired' ? this.#ended(text) : undefined;
    }
  }

  /** A token whose signature is good, but that was revoked before or has expired. */
  #ended(text: string): Found {
    const claims = decodeJwt(text);
    const { jti = '', sub: subject = '', sid } = claims;
    const keyId = decodeProtectedHeader(text).kid ?? '';
    const tokenEpoch = tokenEpochOf(claims);
    const token = { tokenId: jti, sessionId: String(sid), subject, keyId, tokenEpoch };
    const revokedAt = this.#options.revoker.find(token)?.revokedAt;
    const at = revokedAt === undefined ? undefined : new Date(revokedAt * 1000);
    return { use: 'none', tokenId: jti, revokedAt: at };
  }

  async #requireRight(
    subject: string,
    { by, facts }: { readonly by: Revoking; readonly facts: AuditEvent['facts'] },
  ): Promise<void> {
    const { identity } = by;
    if (identity.subject === subject || allows(identity.permissions, 'auth:admin')) return;
    await this.#options.audit.record(eventOf(by, 'token_revocation_refused', facts));
    throw new Fault('forbidden', 'this token is not yours', {
      reason: 'insufficient_permissions',
      detail: { required: 'auth:admin', userPermissions: [...identity.permissions] },
    });
  }

  async #endSession({ sessionId }: RefreshClaims, event: AuditEvent): Promise<Date | undefined> {
    await this.#options.sessions.end(sessionId, event);
    const state = await findSession(this.#options.sql, sessionId);
    return state?.session.revoked_at ?? undefined;
  }

  async #endAccess(token: Identity, event: AuditEvent): Promise<Date | undefined> {
    const [made] = await this.#options.revoker.revoke(async (trx) => {
      await this.#options.audit.recordWithin(trx, event);
      return [{ kind: 'token', id: token.tokenId, expiresAt: token.expiresAt }];
    });
    return made && new Date(made.revokedAt * 1000);
  }
}

function eventOf(
  { identity, origin }: Revoking,
  eventType: AuditEvent['eventType'],
  facts: AuditEvent['facts'],
): AuditEvent {
  const { subject: userId, clientId } = identity;
  return { eventType, userId, clientId, origin, provider: 'token', facts: facts ?? {} };
}
