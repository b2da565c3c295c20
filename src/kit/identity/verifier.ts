import { decodeProtectedHeader, jwtVerify, errors, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { Fault } from '../errors.ts';
import { inspectJson, scanJson } from '../json-scan.ts';
import { identityOf, invalidToken, suiteAudience } from './claims.ts';
import type { Identity } from './identity.ts';
import type { RevocableToken, RevocationList } from './revocations.ts';

export interface VerifierOptions {
  /** The `iss` that tokens must name: auth's URL. */
  readonly issuer: string;
  readonly keys: JWTVerifyGetKey;
  /** Nothing is trusted while it is too old to be relied on. */
  readonly revocations: RevocationList;
}

interface Verified extends RevocableToken {
  /** All of it: its key in the cache is but a part. */
  readonly text: string;
  readonly identity: Identity;
  /** Generation of the revocation list under which the token was last found good. */
  generation: number;
}

const cacheBytesMax = 32 * 1024 * 1024;
const cacheKeyLength = 64;
const tokenLengthMax = 16_384;
const clockToleranceSeconds = 5;
const claimsDepthMax = 64;
/** Three parts of base64url without blanks or padding (RFC 7515, section 7.1). */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const refusedHeaders = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'zip'] as const;

/**
 * Checks access tokens: RS256 only, keys of the suite only, `iss`, `aud`, `exp`, `nbf`, revocation.
 * A token that was verified before costs a look-up and a comparison of the whole of it.
 */
export class Verifier {
  readonly #options: VerifierOptions;
  readonly #verified = new LRUCache<string, Verified>({
    maxSize: cacheBytesMax,
    sizeCalculation: ({ text }) => text.length * 2 + 1024,
  });

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /** Whose token it is: at once when it is known, else a promise. Throws or rejects with `unauthenticated`. */
  verify(token: string): Identity | Promise<Identity> {
    this.#options.revocations.requireFresh();
    const known = this.#find(token);
    return known ? this.#recheck(known) : this.#verifyFirst(token);
  }

  /** Whose token it is, where it was verified before and is kept. Throws as `verify` does. */
  recall(token: string): Identity | undefined {
    const known = this.#find(token);
    if (!known) return undefined;
    this.#options.revocations.requireFresh();
    return this.#recheck(known);
  }

  /** Whether the token was verified before and is kept. */
  isKnown(token: string): boolean {
    return this.#find(token) !== undefined;
  }

  #find(token: string): Verified | undefined {
    const known = this.#verified.get(cacheKeyOf(token));
    return known?.text === token ? known : undefined;
  }

  #recheck(known: Verified): Identity {
    const { revocations } = this.#options;
    if (known.identity.expiresAt + clockToleranceSeconds <= Date.now() / 1000) {
      this.#verified.delete(cacheKeyOf(known.text));
      throw expired(known.identity.expiresAt);
    }
    if (known.generation !== revocations.generation) {
      this.#refuseRevoked(known);
      known.generation = revocations.generation;
    }
    return known.identity;
  }

  async #verifyFirst(token: string): Promise<Identity> {
    if (token.length > tokenLengthMax) throw invalidToken('the token is too long');
    if (!compactForm.test(token) || !isCanonical(token)) {
      throw invalidToken('the token is malformed');
    }
    const keyId = readKeyId(token);
    refuseAmbiguousJson(token);
    const { payload } = await this.#verifySignature(token);
    const identity = identityOf(payload);
    const verified: Verified = {
      text: token,
      identity,
      keyId,
      tokenId: identity.tokenId,
      sessionId: identity.sessionId,
      subject: identity.subject,
      tokenEpoch: identity.tokenEpoch,
      generation: this.#options.revocations.generation,
    };
    this.#refuseRevoked(verified);
    this.#verified.set(cacheKeyOf(token), verified);
    return identity;
  }

  #refuseRevoked(token: RevocableToken): void {
    if (!this.#options.revocations.covers(token)) return;
    throw invalidToken('the token was revoked', 'token_revoked');
  }

  async #verifySignature(token: string) {
    try {
      return await jwtVerify(token, this.#options.keys, {
        algorithms: ['RS256'],
        typ: 'JWT',
        issuer: this.#options.issuer,
        audience: suiteAudience,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['sub', 'exp', 'iat', 'jti'],
      });
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

/** The end of the signature: to hash all of a token costs more than all the rest of a look-up. */
function cacheKeyOf(token: string): string {
  return token.slice(-cacheKeyLength);
}

/** Whether no other spelling of the signature is meant: base64url leaves bits of its end unused. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function readKeyId(token: string): string {
  const header = readHeader(token);
  if (refusedHeaders.some((name) => name in header)) {
    throw invalidToken('the token brings a key or encoding of its own');
  }
  if (typeof header.kid !== 'string') throw invalidToken('the token names no key');
  return header.kid;
}

/** Names must be unique in header and claims (RFC 7515 and 7519, section 4): readers differ on which holds. */
function refuseAmbiguousJson(token: string): void {
  for (const part of token.split('.', 2)) {
    const text = Buffer.from(part, 'base64url').toString();
    const { depth, members } = scanJson(text, claimsDepthMax);
    if (depth <= claimsDepthMax && members === inspectJson(parse(text)).members) continue;
    throw invalidToken('the token is ambiguous or nested too deep');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidToken('the token is not valid');
  }
}

function readHeader(token: string) {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    throw refusalOf(error);
  }
}

function refusalOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof errors.JWTExpired) return expired(Number(error.payload.exp));
  return invalidToken('the token is not valid');
}

function expired(expiresAt: number): Fault {
  const date = new Date(expiresAt * 1000);
  const expiredAt = Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  return invalidToken('the token has expired', 'token_expired', { expiredAt });
}
