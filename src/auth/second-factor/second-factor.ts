import { Fault } from '../../kit/errors.ts';
import { administrationEvent, requireHeld, type Administrator } from '../accounts/administrator.ts';
import type { OwnPassword } from '../accounts/own-password.ts';
import { findUserForUpdate } from '../accounts/user-store.ts';
import type { AuditEventType } from '../events.ts';
import type { RoleTable } from '../roles/roles.ts';
import { requireLoginSession } from '../sessions/login-session.ts';
import { inTransaction } from '../store.ts';
import type { SqlTransaction } from '../tables.ts';
import {
  invalidCode,
  noSecondFactor,
  Proof,
  proofMethods,
  sealContext,
  type ProofEvent,
  type ProofOptions,
} from './proof.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';
import {
  deleteFactor,
  enableFactor,
  findSecondFactor,
  insertPendingFactor,
  replaceRecoveryCodes,
} from './second-factor-store.ts';
import { newTimeSecret, otpauthUrl } from './time-codes.ts';

export interface SecondFactorOptions extends ProofOptions {
  readonly ownPassword: OwnPassword;
  readonly roles: RoleTable;
}

/** Time-based codes (RFC 6238) and recovery codes beside the password. */
export class SecondFactor {
  readonly #options: SecondFactorOptions;
  readonly #proof: Proof;

  constructor(options: SecondFactorOptions) {
    this.#options = options;
    this.#proof = new Proof(options);
  }

  /**
   * For a login whose password was right and whose user has a second factor: throws `mfa_required`,
   * `invalid_otp` or `exhausted` unless it is shown, once that is audited.
   */
  async require(userId: string, otp: string | undefined, event: ProofEvent): Promise<void> {
    try {
      if (otp === undefined) throw codeRequired();
      await this.#proof.require(userId, otp, event);
    } catch (error) {
      if (error instanceof Fault) await this.#recordFailure(error, event);
      throw error;
    }
  }

  /** Whether a second factor is in force, since when, and how many recovery codes are left. */
  async read(userId: string) {
    const factor = await findSecondFactor(this.#options.sql, userId);
    return {
      enabledAt: factor?.enabled_at ?? undefined,
      recoveryCodesLeft: factor?.recovery_codes_left ?? 0,
    };
  }

  /** Makes a secret, which is in force only after its first code; throws `conflict` when one is. */
  async begin(password: string, by: Administrator) {
    const { ownPassword, sql, sealer } = this.#options;
    const { id: userId, username } = await ownPassword.require(password, by);
    const secret = newTimeSecret();
    const sealed = sealer.seal(Buffer.from(secret), sealContext(userId));
    if (!(await insertPendingFactor(sql, { userId, secret: sealed }))) throw alreadyEnabled();
    return { secret, otpauthUrl: otpauthUrl(secret, username) };
  }

  /** Puts the secret in force for who shows its code; answers the recovery codes, this once. */
  async enable(code: string, by: Administrator): Promise<string[]> {
    requireLoginSession(by.identity);
    const { subject: userId } = by.identity;
    const pending = await findSecondFactor(this.#options.sql, userId);
    if (!pending) throw noSecondFactor();
    if (pending.enabled_at) throw alreadyEnabled();
    const factor = await this.#proof.claim(userId);
    const step = await this.#proof.findStep(factor, code);
    if (step === undefined) return this.#refuse(by);
    return this.#change(by, async (trx) => {
      const { secret } = factor;
      if (!(await enableFactor(trx, { userId, secret, step }))) throw alreadyEnabled();
      return 'mfa_enabled';
    });
  }

  /** A new set of recovery codes in the place of the old, for who shows a code. */
  async renewRecoveryCodes(code: string, by: Administrator): Promise<string[]> {
    requireLoginSession(by.identity);
    await this.#require(code, by);
    return this.#change(by, async () => 'recovery_codes_renewed');
  }

  /** Ends the second factor for who shows both the password and a code. */
  async disable(
    { password, code }: { readonly password: string; readonly code: string },
    by: Administrator,
  ): Promise<void> {
    const { sql, audit, ownPassword } = this.#options;
    const user = await ownPassword.require(password, by);
    await this.#require(code, by);
    await inTransaction(sql, async (trx) => {
      await deleteFactor(trx, user.id);
      await audit.recordWithin(trx, { ...administrationEvent(by, 'mfa_disabled', {}), mfa: true });
    });
  }

  /** Ends the second factor of a user who may do no more than the administrator; true if it was in force. */
  async reset(userId: string, by: Administrator): Promise<boolean> {
    const { sql, audit, roles } = this.#options;
    return inTransaction(sql, async (trx) => {
      const user = await findUserForUpdate(trx, userId);
      if (!user) {
        throw new Fault('not_found', 'there is no such user', { reason: 'user_not_found' });
      }
      requireHeld(by, roles.permissionsOf(user));
      const isReset = await deleteFactor(trx, userId);
      const facts = { targetUserId: userId, isReset };
      await audit.recordWithin(trx, administrationEvent(by, 'mfa_reset', facts));
      return isReset;
    });
  }

  /** Throws unless the caller has a second factor in force and the code is good for it. */
  async #require(code: string, by: Administrator): Promise<void> {
    const { subject: userId } = by.identity;
    const factor = await findSecondFactor(this.#options.sql, userId);
    if (!factor?.enabled_at) throw noSecondFactor();
    const { eventType, ...event } = administrationEvent(by, 'mfa_check_failure', {});
    try {
      await this.#proof.require(userId, code, event);
    } catch (error) {
      if (error instanceof Fault) await this.#options.audit.record({ ...event, eventType });
      throw error;
    }
  }

  async #refuse(by: Administrator): Promise<never> {
    await this.#options.audit.record(administrationEvent(by, 'mfa_check_failure', {}));
    throw invalidCode();
  }

  /** Makes a change, for which a code was shown, and new recovery codes together; answers the codes. */
  #change(
    by: Administrator,
    change: (trx: SqlTransaction) => Promise<AuditEventType>,
  ): Promise<string[]> {
    const { sql, audit } = this.#options;
    const codes = newRecoveryCodes();
    const hashes = codes.map(hashRecoveryCode);
    return inTransaction(sql, async (trx) => {
      const eventType = await change(trx);
      const isKept = await replaceRecoveryCodes(trx, { userId: by.identity.subject, hashes });
      if (!isKept) throw noSecondFactor();
      await audit.recordWithin(trx, { ...administrationEvent(by, eventType, {}), mfa: true });
      return codes;
    });
  }

  #recordFailure(fault: Fault, event: ProofEvent): Promise<void> {
    const facts = { ...event.facts, reason: fault.reason ?? fault.code };
    return this.#options.audit.record({ ...event, eventType: 'login_failure', facts });
  }
}

function codeRequired(): Fault {
  return new Fault('unauthenticated', 'send the code of your second factor as `otp`', {
    reason: 'mfa_required',
    detail: { reason: 'mfa_required', methods: proofMethods },
  });
}

function alreadyEnabled(): Fault {
  return new Fault('conflict', 'a second factor is in force already', {
    reason: 'mfa_already_enabled',
  });
}
