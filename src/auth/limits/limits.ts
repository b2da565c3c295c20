import type { Log } from '../../kit/log.ts';
import type { AuthConfig } from '../config.ts';
import type { Sql } from '../tables.ts';
import { deleteFullAllowances } from './allowance-store.ts';
import { Allowances } from './allowances.ts';
import { AttemptLimit, type AttemptRate } from './attempt-limits.ts';
import { deleteForgottenAddresses } from './known-address-store.ts';
import { LeasedLimit } from './leased-limit.ts';
import { LoginLimits } from './login-limits.ts';

export interface LimitsOptions {
  readonly sql: Sql;
  readonly log: Log;
  readonly config: Pick<
    AuthConfig,
    'loginAttempts' | 'loginAttemptsPerAccount' | 'loginAttemptsPerAddress' | 'validationsPerMinute'
  >;
}

const addressKnownMs = 30 * 86_400_000;

/** How often what may be tried, over all replicas and restarts. */
export class Limits implements AsyncDisposable {
  readonly login: LoginLimits;
  readonly validationByAddress: LeasedLimit;
  readonly #sql: Sql;
  readonly #allowances: Allowances;

  constructor({ sql, log, config }: LimitsOptions) {
    this.#sql = sql;
    this.#allowances = new Allowances(sql);
    this.login = new LoginLimits({
      sql,
      addressKnownMs,
      allowances: this.#allowances,
      attempts: config.loginAttempts,
      attemptsPerAccount: config.loginAttemptsPerAccount,
      attemptsPerAddress: config.loginAttemptsPerAddress,
    });
    this.validationByAddress = new LeasedLimit({
      name: 'validate',
      rate: { attempts: config.validationsPerMinute, windowSeconds: 60 },
      allowances: this.#allowances,
      log,
    });
  }

  /** Another limit; whoever opens the same name shares its buckets. */
  open(name: string, rate: AttemptRate): AttemptLimit {
    return new AttemptLimit(name, rate, this.#allowances);
  }

  /** Removes what no longer limits anybody. */
  async deleteExpired(): Promise<void> {
    await deleteFullAllowances(this.#sql);
    await deleteForgottenAddresses(this.#sql, new Date(Date.now() - addressKnownMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.login[Symbol.asyncDispose]();
    await this.validationByAddress[Symbol.asyncDispose]();
    await this.#allowances[Symbol.asyncDispose]();
  }
}
