import type { JWTPayload } from 'jose';
import { Fault } from '../errors.ts';
import type { Identity } from './identity.ts';

/** The audience that every token of the suite names. */
export const suiteAudience = 'ennead';

const timeMax = 8.64e12;

/** What a token is for; a refresh token offered as an access token is refused. */
export type TokenUse = 'access' | 'refresh';

/** The claims of an access token (RFC 7519 names where it has them). */
export interface AccessClaims {
  readonly sub: string;
  readonly iss: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly scope: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** Present where a scope left fewer permissions than the holder has. */
  readonly narrowed?: true;
  readonly user?: { readonly id: string; readonly email: string; readonly name: string };
  readonly client_id: string;
  /** Login session or API key that the token was issued under. */
  readonly sid: string;
  /** Of the user's tokens; each revocation of them all begins another. 0 for services. */
  readonly token_epoch: number;
  readonly token_use: TokenUse;
}

/** The identity that verified claims state; throws `unauthenticated` when they are not an access token's. */
export function identityOf(claims: JWTPayload): Identity {
  const { sub, jti, exp, sid } = claims;
  const isComplete = isText(sub) && isText(jti) && isText(sid) && isTime(exp);
  if (!isComplete || claims['token_use'] !== 'access') throw invalidToken('not an access token');
  const user = claims['user'] as AccessClaims['user'] | undefined;
  return {
    subject: sub,
    kind: user ? 'user' : 'service',
    roles: textList(claims['roles']),
    permissions: textList(claims['permissions']),
    clientId: isText(claims['client_id']) ? claims['client_id'] : '',
    name: user?.name,
    email: user?.email,
    scope: isText(claims['scope']) ? claims['scope'] : '',
    tokenId: jti,
    sessionId: sid,
    tokenEpoch: tokenEpochOf(claims),
    isNarrowed: claims['narrowed'] === true,
    expiresAt: exp,
  };
}

/** The epoch that a token was issued in: the first for one that does not say. */
export function tokenEpochOf({ token_epoch: epoch }: JWTPayload): number {
  return Number.isSafeInteger(epoch) ? Number(epoch) : 0;
}

/** The refusal of a token; `reason` is machine-readable (`token_expired`, `token_revoked`, …). */
export function invalidToken(
  message: string,
  reason = 'token_invalid',
  detail: Readonly<Record<string, unknown>> = {},
): Fault {
  return new Fault('unauthenticated', message, {
    reason: 'invalid_token',
    detail: { reason, ...detail },
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Unix seconds within what a Date can hold. */
function isTime(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) <= timeMax;
}

function textList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
