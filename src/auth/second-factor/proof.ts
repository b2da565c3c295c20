import { Fault } from '../../kit/errors.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent } from '../audit/audit-event.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { refusalOf } from '../limits/attempt-limits.ts';
import { inTransaction } from '../store.ts';
import type { SecondFactorRow, Sql } from '../tables.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import {
  acceptStep,
  claimAttempt,
  consumeRecoveryCode,
  findSecondFactor,
} from './second-factor-store.ts';
import { digitsOf, findStep } from './time-codes.ts';

export interface ProofOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
}

/** What the audit log says of whoever shows a code. */
export type ProofEvent = Omit<AuditEvent, 'eventType'>;

/** What can stand for the second factor. */
export const proofMethods: readonly string[] = ['totp', 'recovery_code'];

const rate = { attempts: 5, windowSeconds: 15 * 60 } as const;

/** Checks the codes of second factors: at most 5 wrong ones in 15 minutes for each user. */
export class Proof {
  readonly #options: ProofOptions;

  constructor(options: ProofOptions) {
    this.#options = options;
  }

  /**
   * Accepts a code of the app or a recovery code, each once. Throws `invalid_otp` for any other, and
   * `exhausted` without looking at the code when too many were wrong; a good code forgives the rest.
   */
  async require(userId: string, code: string, event: ProofEvent): Promise<void> {
    const factor = await this.claim(userId);
    const isAccepted = digitsOf(code)
      ? await this.#acceptTimeCode(factor, code)
      : await this.#acceptRecoveryCode(userId, code, event);
    if (!isAccepted) throw invalidCode();
  }

  /** Takes one of the user's attempts; throws `exhausted` when there is none left. */
  async claim(userId: string): Promise<SecondFactorRow> {
    const { sql } = this.#options;
    const windowMs = rate.windowSeconds * 1000;
    const factor = await claimAttempt(sql, { userId, max: rate.attempts, windowMs });
    if (factor) return factor;
    const exhausted = await findSecondFactor(sql, userId);
    if (!exhausted) throw noSecondFactor();
    const endsAt = exhausted.attempts_since.getTime() + windowMs;
    throw refusalOf(rate, Math.max(1, Math.ceil((endsAt - Date.now()) / 1000)));
  }

  /** The step of a code of the app, if it is one of this factor that was not accepted before. */
  findStep(factor: SecondFactorRow, code: string): Promise<number | undefined> {
    const { user_id: userId, secret, last_step: lastStep } = factor;
    const plain = this.#options.sealer.unseal(secret, sealContext(userId)).toString();
    return findStep(plain, { code, lastStep });
  }

  async #acceptTimeCode(factor: SecondFactorRow, code: string): Promise<boolean> {
    const step = await this.findStep(factor, code);
    if (step === undefined) return false;
    const { user_id: userId, secret } = factor;
    return acceptStep(this.#options.sql, { userId, secret, step });
  }

  #acceptRecoveryCode(userId: string, code: string, event: ProofEvent): Promise<boolean> {
    const { sql, audit } = this.#options;
    return inTransaction(sql, async (trx) => {
      const hash = hashRecoveryCode(code);
      const isUsed = await consumeRecoveryCode(trx, { userId, hash });
      if (isUsed)
        await audit.recordWithin(trx, { ...event, mfa: true, eventType: 'recovery_code_used' });
      return isUsed;
    });
  }
}

/** What a secret is sealed for, so that it opens for no other user. */
export function sealContext(userId: string): string {
  return `totp ${userId}`;
}

/** The refusal of a wrong code. */
export function invalidCode(): Fault {
  return new Fault('unauthenticated', 'the code is wrong, or was used before', {
    reason: 'invalid_otp',
    detail: { reason: 'invalid_otp', methods: proofMethods },
  });
}

/** The refusal of what takes a second factor that is in force. */
export function noSecondFactor(): Fault {
  return new Fault('conflict', 'there is no second factor', { reason: 'mfa_not_enabled' });
}
