import { decodeJwt } from 'jose';
import { Fault } from '../../kit/errors.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Verifier } from '../../kit/identity/verifier.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Origin } from '../audit/audit-event.ts';
import { suspectReasons } from '../audit/refused-requests.ts';

/** What is to be said of a token: of a good one its claims, written as JSON once. */
export type Validity =
  | WrittenJson
  | { readonly valid: false; readonly error: string; readonly message: string };

/** Says whether tokens are good, with the rules that every service applies. */
export class Validation {
  readonly #verifier: Verifier;
  readonly #audit: AuditLog;
  /** The verifier answers a known token with the same object, so claims are written once. */
  readonly #answers = new WeakMap<Identity, WrittenJson>();

  constructor(verifier: Verifier, audit: AuditLog) {
    this.#verifier = verifier;
    this.#audit = audit;
  }

  /**
   * Only access tokens are valid; whatever is wrong with one is in the answer, never thrown. At once
   * for a token that was seen before. What the suite never signed or has revoked is audited.
   */
  validate(token: string, origin: Origin): Validity | Promise<Validity> {
    try {
      const identity = this.#verifier.verify(token);
      if (!(identity instanceof Promise)) return this.#answerOf(token, identity);
      return identity
        .then((verified) => this.#answerOf(token, verified))
        .catch((error: unknown) => this.#explain(error, origin));
    } catch (error) {
      return this.#explain(error, origin);
    }
  }

  #answerOf(token: string, identity: Identity): WrittenJson {
    const known = this.#answers.get(identity);
    if (known) return known;
    const answer = new WrittenJson({ valid: true, payload: decodeJwt(token) });
    this.#answers.set(identity, answer);
    return answer;
  }

  #explain(error: unknown, origin: Origin): Validity {
    if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
    const reason = String(error.detail['reason']);
    if (suspectReasons.has(reason)) {
      this.#audit.tally({
        eventType: 'token_refused',
        origin,
        provider: 'token',
        facts: { reason },
      });
    }
    return { valid: false, error: reason, message: error.message };
  }
}
