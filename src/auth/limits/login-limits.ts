import { createHash } from 'node:crypto';
import type { Fault } from '../../kit/errors.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import type { AllowanceGrant } from './allowance-store.ts';
import type { Allowances } from './allowances.ts';
import { AttemptLimit } from './attempt-limits.ts';

/** Who tries to log in from where. */
export interface LoginSource {
  /** The form in which usernames are compared, of somebody or nobody. */
  readonly usernameKey: string;
  readonly addressKey: string;
  /** Whether the user has lately logged in from the address. */
  readonly isAddressKnown: boolean;
}

/** The bucket that is nearest to its end, and the refusal when one was empty. */
export interface LoginVerdict {
  readonly allowance: Allowance;
  readonly refusal: Fault | undefined;
}

export interface LoginLimitsOptions {
  readonly allowances: Allowances;
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
export class LoginLimits {
  readonly #allowances: Allowances;
  readonly #byPair: AttemptLimit;
  readonly #byAccount: AttemptLimit;
  readonly #byAddress: AttemptLimit;

  constructor(options: LoginLimitsOptions) {
    const { allowances, attempts, attemptsPerAccount, attemptsPerAddress } = options;
    const limit = (name: string, most: number) =>
      new AttemptLimit(name, { attempts: most, windowSeconds }, allowances);
    this.#allowances = allowances;
    this.#byPair = limit('login pair', attempts);
    this.#byAccount = limit('login account', attemptsPerAccount);
    this.#byAddress = limit('login address', attemptsPerAddress);
  }

  /** Takes one attempt of every bucket that counts, or none when one of them is empty. */
  async take({ usernameKey, addressKey, isAddressKnown }: LoginSource): Promise<LoginVerdict> {
    const account = createHash('sha256').update(usernameKey).digest('base64url');
    const buckets = [
      { limit: this.#byPair, key: `${account} ${addressKey}` },
      ...(isAddressKnown ? [] : [{ limit: this.#byAccount, key: account }]),
      { limit: this.#byAddress, key: addressKey },
    ];
    const asks = buckets.map(({ limit, key }) => limit.askFor(key));
    const grants = await this.#allowances.take(() => asks);
    const standings = buckets.map(({ limit }, at) => ({ limit, grant: grants[at] }));
    const { limit, grant } = standings.reduce((one, other) =>
      isNearer(other.grant, one.grant) ? other : one,
    );
    const allowance = limit.allowanceOf(grant);
    return { allowance, refusal: allowance.isAllowed ? undefined : limit.refusal(allowance) };
  }
}

/** Whether a bucket is nearer to its end; of empty ones, that which stays empty longer. */
function isNearer(one: AllowanceGrant | undefined, other: AllowanceGrant | undefined): boolean {
  if (!one || !other) return !one;
  if (one.granted > 0) return one.remaining < other.remaining;
  return one.waitSeconds > other.waitSeconds;
}
