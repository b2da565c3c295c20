import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { IdentityRow, Sql } from '../tables.ts';
import {
  claimLease,
  dropTokens,
  findIdentityOf,
  noTokens,
  releaseLease,
  storeRefreshedTokens,
} from './identity-store.ts';
import {
  idpLoginRequired,
  isLoginRequired,
  providerError,
  providerTimeoutMs,
} from './provider-fetch.ts';
import type { ProviderClient } from './provider-client.ts';
import { openTokens, sealTokens, type ProviderTokens } from './provider-tokens.ts';
import type { Provider } from './providers.ts';

export interface IdpTokensOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly client: ProviderClient;
}

const earlyMsMax = 5 * 60_000;
const leaseMs = providerTimeoutMs + 5_000;
const pollMs = 50;
// The first holder may have died, and so may whoever took over from it.
const turnsMax = 3;

/**
 * The provider's own tokens of users. Providers that rotate refresh tokens take a second use for
 * theft, so of all processes one alone refreshes at a time, and the others wait for what it gets.
 * The lease of one that died runs out, and another takes over.
 */
export class IdpTokens {
  readonly #options: IdpTokensOptions;
  readonly #underWay = new Map<string, Promise<ProviderTokens>>();

  constructor(options: IdpTokensOptions) {
    this.#options = options;
  }

  /**
   * Tokens with at least five minutes left, or half their life where that is less; those that are
   * stored stay good for their own time when the provider fails. Throws `idp_login_required` when it
   * gives no more, and `provider_error` when it fails and what is stored has expired.
   */
  async fresh(identity: IdentityRow, provider: Provider): Promise<ProviderTokens> {
    const tokens = this.#open(identity);
    if (!isAging(tokens) || tokens.refreshToken === undefined) return requireLiving(tokens);
    try {
      return await this.#refreshOnce(identity, provider);
    } catch (error) {
      if (hasExpired(tokens) || !isProviderFailure(error)) throw error;
      return tokens;
    }
  }

  /**
   * The next tokens from the provider, however fresh the stored ones are. What came after `since`
   * is new enough: of many who ask at once, one alone goes to the provider. Where the provider gave
   * no refresh token, the stored ones. Throws `idp_login_required` when the provider gives no more,
   * and `provider_error` when it fails.
   */
  async renew(
    identity: IdentityRow,
    { provider, since }: { readonly provider: Provider; readonly since: Date },
  ): Promise<ProviderTokens> {
    const tokens = this.#open(identity);
    const isNew = tokens.issuedAt >= since;
    if (isNew || tokens.refreshToken === undefined) return requireLiving(tokens);
    return this.#refreshOnce(identity, provider);
  }

  /**
   * Drops the tokens of a user whose access token the provider refuses, so that the user is asked to
   * log in again. False when others have come in its place, or are coming: a provider ends a token with
   * the next, so its refusal says nothing then.
   */
  async forget(userId: string, refused: string): Promise<boolean> {
    const { sql, sealer } = this.#options;
    const identity = await findIdentityOf(sql, userId);
    const tokens = identity && openTokens(sealer, identity);
    if (!tokens) return true;
    return tokens.accessToken === refused && dropTokens(sql, identity, new Date());
  }

  async #refreshOnce(identity: IdentityRow, provider: Provider): Promise<ProviderTokens> {
    const waiting = this.#underWay.get(identity.user_id);
    if (waiting) return waiting;
    const refreshed = this.#refresh(identity, provider).finally(() =>
      this.#underWay.delete(identity.user_id),
    );
    this.#underWay.set(identity.user_id, refreshed);
    return refreshed;
  }

  #open(identity: IdentityRow): ProviderTokens {
    const tokens = openTokens(this.#options.sealer, identity);
    if (tokens) return tokens;
    throw idpLoginRequired();
  }

  async #refresh(identity: IdentityRow, provider: Provider): Promise<ProviderTokens> {
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const now = new Date();
      const until = new Date(now.getTime() + leaseMs);
      const isOurs = await claimLease(this.#options.sql, identity, { now, until });
      const tokens = await (isOurs ? this.#ask(identity, provider) : this.#await(identity));
      if (tokens) return tokens;
    }
    throw providerError('gave no tokens in time');
  }

  /** Asks the provider; the lease ends whatever it answers. */
  async #ask(identity: IdentityRow, provider: Provider): Promise<ProviderTokens> {
    const { sql, sealer, client } = this.#options;
    const old = this.#open(identity);
    try {
      const { refreshToken = '', scope } = old;
      const { subject } = identity;
      const tokens = await client.refresh(provider, { refreshToken, scope, subject });
      const sealed = sealTokens(sealer, identity, tokens);
      const stored = await storeRefreshedTokens(sql, identity, sealed);
      return stored ? tokens : await this.#readAgain(identity);
    } catch (error) {
      if (!isLoginRequired(error)) {
        await releaseLease(sql, identity);
        throw error;
      }
      const stored = await storeRefreshedTokens(sql, identity, noTokens);
      if (stored) throw error;
      return this.#readAgain(identity);
    }
  }

  /** Waits for what the process gets that holds the lease; undefined when the lease has run out. */
  async #await(identity: IdentityRow): Promise<ProviderTokens | undefined> {
    for (;;) {
      const now = await findIdentityOf(this.#options.sql, identity.user_id);
      if (!now) throw idpLoginRequired();
      if (now.token_version !== identity.token_version) return this.#open(now);
      if (now.lease_until === null) throw providerError('gave no tokens to another process');
      if (now.lease_until.getTime() < Date.now()) return undefined;
      await sleep(pollMs);
    }
  }

  /** A login has replaced the tokens meanwhile. */
  async #readAgain(identity: IdentityRow): Promise<ProviderTokens> {
    const now = await findIdentityOf(this.#options.sql, identity.user_id);
    if (now) return this.#open(now);
    throw idpLoginRequired();
  }
}

/** Whole seconds that a provider's access token has left; undefined when the provider names no end. */
export function secondsLeft({ expiresAt }: ProviderTokens): number | undefined {
  if (!expiresAt) return undefined;
  return Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
}

/** Tokens that live for less than ten minutes would else be old as soon as they are issued. */
function isAging({ issuedAt, expiresAt }: ProviderTokens): boolean {
  if (expiresAt === undefined) return false;
  const lifeMs = expiresAt.getTime() - issuedAt.getTime();
  return expiresAt.getTime() - Date.now() < Math.min(earlyMsMax, lifeMs / 2);
}

function isProviderFailure(error: unknown): boolean {
  return error instanceof Fault && error.reason === 'provider_error';
}

function hasExpired({ expiresAt }: ProviderTokens): boolean {
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now();
}

function requireLiving(tokens: ProviderTokens): ProviderTokens {
  if (hasExpired(tokens)) throw idpLoginRequired();
  return tokens;
}
