import { createHash } from 'node:crypto';
import { Fault } from '../errors.ts';
import { invalidToken } from './claims.ts';
import type { Identity } from './identity.ts';
import type { Verifier } from './verifier.ts';
import { recentEntries } from '../recent-entries.ts';

/** An access token got for an API key. */
export interface ExchangedToken {
  readonly accessToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/** Trades an API key for an access token at the issuer; rejects with `unauthenticated` when it is no good. */
export type ExchangeApiKey = (apiKey: string) => Promise<ExchangedToken>;

const keysMax = 10_000;
const refusalTtlMs = 1_000;
const lifeShare = 0.8;

/**
 * Turns a credential into an identity. A JWT is verified here; an API key is traded once for a token
 * that is kept by the key's SHA-256 for most of its life, so revoking the key ends it like any token.
 */
export class Authenticator {
  readonly #verifier: Verifier;
  readonly #exchange: ExchangeApiKey;
  readonly #tokens = recentEntries<string>(keysMax);
  readonly #refused = recentEntries<Fault>(keysMax, { ttl: refusalTtlMs });
  readonly #pending = new Map<string, Promise<string>>();
  readonly #isApiKey: (text: string) => boolean;

  /** `isApiKey` tells by its form what can be no key of ours, so that the issuer is not asked for it. */
  constructor(
    verifier: Verifier,
    exchange: ExchangeApiKey,
    isApiKey: (text: string) => boolean = () => true,
  ) {
    this.#verifier = verifier;
    this.#exchange = exchange;
    this.#isApiKey = isApiKey;
  }

  /** Whether a credential was good before, so that checking it again costs next to nothing. */
  isKnown(credential: string): boolean {
    if (credential.includes('.')) return this.#verifier.isKnown(credential);
    return this.#tokens.has(idOf(credential));
  }

  /** Whose token it is, where it was good before: what `identify` says, by a single look-up. */
  recall(token: string): Identity | undefined {
    return this.#verifier.recall(token);
  }

  /** Whose credential it is; at once when it is a token seen before. */
  identify(credential: string): Identity | Promise<Identity> {
    return credential.includes('.')
      ? this.#verifier.verify(credential)
      : this.#identifyApiKey(credential);
  }

  async #identifyApiKey(apiKey: string): Promise<Identity> {
    if (!this.#isApiKey(apiKey)) throw invalidToken('this is neither a token nor an API key');
    const id = idOf(apiKey);
    const known = this.#tokens.get(id);
    if (known) {
      const identity = await this.#verifyOrForget(id, known);
      if (identity) return identity;
    }
    return this.#verifier.verify(await this.#tokenOf(id, apiKey));
  }

  async #verifyOrForget(id: string, token: string): Promise<Identity | undefined> {
    try {
      return await this.#verifier.verify(token);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
      this.#tokens.delete(id);
      return undefined;
    }
  }

  #tokenOf(id: string, apiKey: string): Promise<string> {
    const refusal = this.#refused.get(id);
    if (refusal) return Promise.reject(refusal);
    const pending = this.#pending.get(id);
    if (pending) return pending;
    const exchanging = this.#exchangeOnce(id, apiKey).finally(() => this.#pending.delete(id));
    this.#pending.set(id, exchanging);
    return exchanging;
  }

  async #exchangeOnce(id: string, apiKey: string): Promise<string> {
    try {
      const { accessToken, expiresIn } = await this.#exchange(apiKey);
      this.#tokens.set(id, accessToken, { ttl: expiresIn * 1000 * lifeShare });
      return accessToken;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
      const refusal = keyRefused();
      this.#refused.set(id, refusal);
      throw refusal;
    }
  }
}

/** What a key is remembered by: never by itself. */
function idOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('base64url');
}

function keyRefused(): Fault {
  return invalidToken('the API key is not valid', 'api_key_invalid');
}
