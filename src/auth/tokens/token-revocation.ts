import { decodeJwt } from 'jose';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Verifier } from '../../kit/identity/verifier.ts';
import { allows } from '../../kit/permissions.ts';
import type { AuditEvent, AuditLog, Origin } from '../audit/audit.ts';
import type { Revoker } from './revoker.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { RefreshClaims, TokenMint } from './tokens.ts';

export interface TokenRevocationOptions {
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
  readonly isRevoked: boolean;
  readonly tokenId?: string | undefined;
}

type Found =
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
   * else's token, unless the caller holds `auth:admin`; a token that is no good any more is no error.
   */
  async revoke(text: string, by: Revoking): Promise<RevocationResult> {
    const found = await this.#find(text);
    if (typeof found === 'string') return { isRevoked: true, tokenId: found };
    if (!found) return { isRevoked: false };
    const { subject, tokenId, sessionId } = found.token;
    const facts = { tokenId, sessionId, subject, tokenUse: found.use };
    await this.#requireRight(subject, { by, facts });
    const event = eventOf(by, 'token_revoked', facts);
    if (found.use === 'refresh') await this.#options.sessions.end(sessionId, event);
    else await this.#endAccess(found.token, event);
    return { isRevoked: true, tokenId };
  }

  /** The good token behind a text; its id alone when it had expired or was revoked before. */
  async #find(text: string): Promise<Found | string | undefined> {
    try {
      return { use: 'access', token: await this.#options.verifier.verify(text) };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
      if (error.detail['reason'] !== 'token_invalid') return decodeJwt(text).jti;
    }
    try {
      return { use: 'refresh', token: await this.#options.mint.readRefresh(text) };
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'invalid_grant') throw error;
      return error.detail['reason'] === 'token_expired' ? decodeJwt(text).jti : undefined;
    }
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

  async #endAccess(token: Identity, event: AuditEvent): Promise<void> {
    await this.#options.revoker.revoke(async (trx) => {
      await this.#options.audit.recordWithin(trx, event);
      return [{ kind: 'token', id: token.tokenId, expiresAt: token.expiresAt }];
    });
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
