import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { IdentityRow } from '../tables.ts';
import type { IdentityKey, SealedTokens } from './identity-store.ts';

/** Encrypts a provider's tokens for the one identity that they belong to. */
export function sealTokens(sealer: Sealer, key: IdentityKey, tokens: ProviderTokens): SealedTokens {
  const seal = (text: string) => sealer.seal(Buffer.from(text), contextOf(key));
  const { accessToken, refreshToken } = tokens;
  return {
    access_token: seal(accessToken),
    refresh_token: refreshToken === undefined ? null : seal(refreshToken),
    token_type: tokens.tokenType,
    scope: tokens.scope,
    issued_at: tokens.issuedAt,
    expires_at: tokens.expiresAt ?? null,
  };
}

/** The tokens of an identity; undefined when the provider has taken them back. */
export function openTokens(sealer: Sealer, identity: IdentityRow): ProviderTokens | undefined {
  const { access_token: access, refresh_token: refresh } = identity;
  if (access === null) return undefined;
  const open = (text: string) => sealer.unseal(text, contextOf(identity)).toString();
  return {
    accessToken: open(access),
    refreshToken: refresh === null ? undefined : open(refresh),
    tokenType: identity.token_type,
    scope: identity.scope,
    issuedAt: identity.issued_at,
    expiresAt: identity.expires_at ?? undefined,
  };
}

function contextOf({ issuer, subject }: IdentityKey): string {
  return `oauth identity ${JSON.stringify([issuer, subject])}`;
}

/** The provider's own tokens for a user. */
export interface ProviderTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly tokenType: string;
  readonly scope: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date | undefined;
}
