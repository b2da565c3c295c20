import type { JWTPayload } from 'jose';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { suiteAudience, type AccessClaims } from '../../kit/identity/claims.ts';
import { mayGrant } from '../../kit/permissions.ts';
import type { Signing } from '../keys/compact-token.ts';
import type { Keyring } from '../keys/keyring.ts';

/** How long an access token lives. */
export const accessLifeSeconds = 3600;

/** How long a session lives from its login on; no refresh prolongs it. */
export const sessionLifeSeconds = 30 * 86_400;

// Replicas whose clocks differ read each other's refresh tokens.
const clockToleranceSeconds = 5;

/** What an access token is to state. */
export interface Grant {
  readonly subject: string;
  /** Login session or API key. */
  readonly sessionId: string;
  readonly clientId: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** Whether a scope has left fewer of them than the holder has. */
  readonly isNarrowed?: boolean;
  /** Present for users, absent for services. */
  readonly user?: AccessClaims['user'];
  /** Read together with what the token states, so that a later revocation of all covers it. */
  readonly tokenEpoch: number;
}

export interface AccessOptions {
  /** When the right to it was checked, in Unix seconds; now when absent. */
  readonly issuedAt?: number;
  /** An hour when absent. */
  readonly lifeSeconds?: number;
  /** Where the signature is made; on another thread when absent. */
  readonly signing?: Signing;
}

/** What an id_token is to state. */
export interface Login extends Pick<Grant, 'subject' | 'clientId'> {
  /** As the client gave it. */
  readonly nonce: string | undefined;
}

/** What a good refresh token states. */
export interface RefreshClaims {
  readonly token: string;
  readonly tokenId: string;
  readonly subject: string;
  readonly sessionId: string;
  readonly clientId: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

interface RefreshPayload {
  readonly sub: string;
  readonly jti: string;
  readonly sid: string;
  readonly client_id: string;
  readonly exp: number;
  readonly nbf: number;
}

export interface TokenMintOptions {
  /** `iss` of every token: auth's URL. */
  readonly issuer: string;
  readonly keyring: Keyring;
}

/** Makes the suite's tokens, and reads back its refresh tokens. */
export class TokenMint {
  readonly #options: TokenMintOptions;

  constructor(options: TokenMintOptions) {
    this.#options = options;
  }

  /**
   * Signs an access token. `scope` lists the permissions, because nothing else is ever asked for.
   */
  signAccess(grant: Grant, options: AccessOptions = {}): Promise<string> {
    const { issuedAt = nowInSeconds(), lifeSeconds = accessLifeSeconds, signing } = options;
    const { subject, sessionId, clientId, roles, permissions, user, tokenEpoch } = grant;
    const { isNarrowed = false } = grant;
    const claims: AccessClaims = {
      ...this.#registeredClaims(subject, issuedAt, suiteAudience),
      exp: issuedAt + lifeSeconds,
      scope: permissions.join(' '),
      roles,
      permissions,
      ...(isNarrowed ? { narrowed: true } : {}),
      ...(user ? { user } : {}),
      client_id: clientId,
      sid: sessionId,
      token_epoch: tokenEpoch,
      token_use: 'access',
    };
    return this.#options.keyring.sign({ ...claims, aud: [...claims.aud] }, signing);
  }

  /**
   * Signs an id_token: what a client may know of a login that has just been (OpenID Connect Core,
   * section 2). It is for that client alone and opens nothing.
   */
  signId({ subject, clientId, nonce }: Login): Promise<string> {
    const issuedAt = nowInSeconds();
    return this.#options.keyring.sign({
      iss: this.#options.issuer,
      sub: subject,
      aud: clientId,
      exp: issuedAt + accessLifeSeconds,
      iat: issuedAt,
      auth_time: issuedAt,
      ...(nonce === undefined ? {} : { nonce }),
      token_use: 'id',
    });
  }

  /** Makes a refresh token: auth alone can check it, and it is good until its session ends. */
  signRefresh(
    grant: Pick<Grant, 'subject' | 'sessionId' | 'clientId'>,
    expiresAt: Date,
  ): Promise<string> {
    return this.#options.keyring.signForSelf({
      ...this.#registeredClaims(grant.subject, nowInSeconds(), this.#options.issuer),
      exp: Math.floor(expiresAt.getTime() / 1000),
      client_id: grant.clientId,
      sid: grant.sessionId,
      token_use: 'refresh',
    });
  }

  /**
   * Checks proof and claims of a refresh token; throws `invalid_grant` (RFC 6749, section 5.2). Those
   * that were signed like access tokens count as well: the token's hash is what the session knows.
   */
  async readRefresh(token: string): Promise<RefreshClaims> {
    const { issuer, keyring } = this.#options;
    const claims = await keyring.verify(token);
    if (!isRefreshPayload(claims, issuer)) throw invalidGrant('token_invalid');
    const { sub, jti, sid, client_id, exp, nbf } = claims;
    const now = nowInSeconds();
    if (exp <= now - clockToleranceSeconds) throw invalidGrant('token_expired');
    if (nbf > now + clockToleranceSeconds) throw invalidGrant('token_invalid');
    const holder = { subject: sub, sessionId: sid, clientId: client_id };
    return { token, tokenId: jti, ...holder, expiresAt: exp };
  }

  #registeredClaims(subject: string, issuedAt: number, audience: string) {
    return {
      sub: subject,
      iss: this.#options.issuer,
      aud: [audience],
      iat: issuedAt,
      nbf: issuedAt,
      jti: newId('tok'),
    };
  }
}

/** By this process's clock. */
export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Whether claims that the suite signed are those of a refresh token. */
function isRefreshPayload(
  claims: JWTPayload | undefined,
  issuer: string,
): claims is JWTPayload & RefreshPayload {
  if (claims?.['token_use'] !== 'refresh' || claims.iss !== issuer) return false;
  const { aud, sub, jti, exp, nbf } = claims;
  const texts = [sub, jti, claims['sid'], claims['client_id']];
  return (
    [aud].flat().includes(issuer) &&
    texts.every((text) => typeof text === 'string') &&
    [exp, nbf].every((time) => Number.isInteger(time))
  );
}

/** The permissions that a scope leaves; throws `invalid_scope` when it asks for more than is held. */
export function narrowPermissions(
  permissions: readonly string[],
  scope: string | undefined,
): readonly string[] {
  const wanted = scope?.split(' ').filter((part) => part !== '') ?? [];
  if (wanted.length === 0) return permissions;
  if (mayGrant(permissions, wanted)) return [...new Set(wanted)];
  throw new Fault('invalid', 'the scope asks for more than was granted', {
    reason: 'invalid_scope',
  });
}

/** The refusal of a refresh token; the reason goes into the details. */
export function invalidGrant(reason: string): Fault {
  return new Fault('invalid', 'the refresh token is not valid', {
    reason: 'invalid_grant',
    detail: { reason },
  });
}

/** What both lists allow. */
export function intersectPermissions(a: readonly string[], b: readonly string[]): string[] {
  const both = [...a.filter((one) => mayGrant(b, [one])), ...b.filter((one) => mayGrant(a, [one]))];
  return [...new Set(both)].toSorted();
}
