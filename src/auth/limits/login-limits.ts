import { createHash } from 'node:crypto';
import type { Fault } from '../../kit/errors.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import type { Sql } from '../tables.ts';
import type { AllowanceGrant } from './allowance-store.ts';
import type { Allowances } from './allowances.ts';
import { AttemptLimit } from './attempt-limits.ts';
import type { LoginUser } from './login-store.ts';
import { LoginStarts } from './login-starts.ts';

/** Who tries to log in from where. */
export interface LoginSource {
  /** The form in which usernames are compared, of somebody or nobody. */
  readonly usernameKey: string;
  readonly addressKey: string;
}

/** Whose name it is, the bucket that is nearest to its end, and the refusal when one was empty. */
export interface LoginVerdict {
  readonly found: LoginUser | undefined;
  readonly allowance: Allowance;
  readonly refusal: Fault | undefined;
  /** The bucket that is nearest to its end. */
  readonly bucket: string;
}

export interface LoginLimitsOptions {
  readonly sql: Sql;
  readonly allowances: Allowances;
  /** For how long an address stays known to whoever logged in from it. */
  readonly addressKnownMs: number;
  /** Of one account from one address. */
  readonly attempts: number;
  /** Of one account from all addresses that it does not know. */
  readonly attemptsPerAccount: number;
  /** Of one address over all accounts. */
  readonly attemptsPerAddress: number;
}

const windowSeconds = 15 * 60;

/**
 * How often a password may be tried. From an address that the account knows, what happens elsewhere
 * does not count: nobody can lock somebody out by wrong passwords. An account that does not exist
 * counts like any other.
 */
export class LoginLimits implements AsyncDisposable {
  readonly #starts: LoginStarts;
  readonly #byPair: AttemptLimit;
  readonly #byAccount: AttemptLimit;
  readonly #byAddress: AttemptLimit;

  constructor(options: LoginLimitsOptions) {
    const { allowances, attempts, attemptsPerAccount, attemptsPerAddress } = options;
    const limit = (name: string, most: number) =>
      new AttemptLimit(name, { attempts: most, windowSeconds }, allowances);
    this.#starts = new LoginStarts(options.sql, options.addressKnownMs);
    this.#byPair = limit('login pair', attempts);
    this.#byAccount = limit('login account', attemptsPerAccount);
    this.#byAddress = limit('login address', attemptsPerAddress);
  }

  /**
   * Takes one attempt of every bucket that counts, or none when one of them is empty, and looks up
   * whose name it is.
   */
  async take({ usernameKey, addressKey }: LoginSource): Promise<LoginVerdict> {
    const account = createHash('sha256').update(usernameKey).digest('base64url');
    const asks = {
      account: this.#byAccount.askFor(account),
      address: this.#byAddress.askFor(addressKey),
      pair: this.#byPair.askFor(`${account} ${addressKey}`),
    };
    const start = await this.#starts.ask({ usernameKey, addressKey, ...asks });
    const standings = [
      { limit: this.#byPair, grant: start.pair, bucket: asks.pair.key },
      ...(start.account
        ? [{ limit: this.#byAccount, grant: start.account, bucket: asks.account.key }]
        : []),
      { limit: this.#byAddress, grant: start.address, bucket: asks.address.key },
    ];
    const { limit, grant, bucket } = standings.reduce((one, other) =>
      isNearer(other.grant, one.grant) ? other : one,
    );
    const allowance = limit.allowanceOf(grant);
    const refusal = allowance.isAllowed ? undefined : limit.refusal(allowance);
    return { found: start.found, allowance, refusal, bucket };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#starts[Symbol.asyncDispose]();
  }
}

/** Whether a bucket is nearer to its end; of empty ones, that which stays empty longer. */
function isNearer(one: AllowanceGrant | undefined, other: AllowanceGrant | undefined): boolean {
  if (!one || !other) return !one;
  if (one.granted > 0) return one.remaining < other.remaining;
  return one.waitSeconds > other.waitSeconds;
}
