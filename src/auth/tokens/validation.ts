import { decodeJwt, type JWTPayload } from 'jose';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Verifier } from '../../kit/identity/verifier.ts';

/** What is to be said of a token. */
export type Validity =
  | { readonly valid: true; readonly payload: JWTPayload }
  | { readonly valid: false; readonly error: string; readonly message: string };

/** Says whether tokens are good, with the rules that every service applies. */
export class Validation {
  readonly #verifier: Verifier;
  /** The verifier answers a known token with the same object, so claims are decoded once. */
  readonly #claims = new WeakMap<Identity, JWTPayload>();

  constructor(verifier: Verifier) {
    this.#verifier = verifier;
  }

  /** Only access tokens are valid; whatever is wrong with one is in the answer, never thrown. */
  async validate(token: string): Promise<Validity> {
    try {
      const identity = await this.#verifier.verify(token);
      return { valid: true, payload: this.#claimsOf(token, identity) };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
      return { valid: false, error: String(error.detail['reason']), message: error.message };
    }
  }

  #claimsOf(token: string, identity: Identity): JWTPayload {
    const known = this.#claims.get(identity);
    if (known) return known;
    const claims = decodeJwt(token);
    this.#claims.set(identity, claims);
    return claims;
  }
}
