import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { isProduction } from '../../kit/production.ts';
import type { Host } from '../../kit/service.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Origin } from '../audit/audit-event.ts';
import type { AuthConfig } from '../config.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { requireLoginSession } from '../sessions/login-session.ts';
import { recordRefusal } from '../sessions/refresh-refusals.ts';
import type { RefreshOptions, Sessions, TokenPair } from '../sessions/sessions.ts';
import type { IdentityRow, Sql } from '../tables.ts';
import { invalidGrant, type RefreshClaims, type TokenMint } from '../tokens/tokens.ts';
import type { Revoker } from '../tokens/revoker.ts';
import { CodeExchange } from './code-exchange.ts';
import { FederatedUsers } from './federated-users.ts';
import { deleteOldFlows } from './flow-store.ts';
import { Flows } from './flows.ts';
import { RoleSync } from './group-roles.ts';
import { findIdentityOf } from './identity-store.ts';
import { rekeyOriginIdentities } from './identity-keys.ts';
import { IdpTokens } from './idp-tokens.ts';
import { ProviderClient } from './provider-client.ts';
import type { ProviderTokens } from './provider-tokens.ts';
import { isLoginRequired } from './provider-fetch.ts';
import { Providers } from './providers.ts';

export interface OAuthOptions {
  readonly host: Host<AuthConfig>;
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
  readonly sessions: Sessions;
  readonly mint: TokenMint;
  readonly revoker: Revoker;
}

const consumedFlowsKeptMs = 86_400_000;
/** For how long the provider's answer to a refresh is that of others with the same refresh token. */
const sharedMs = 10_000;

/** Logins through identity providers, and what is kept of them. */
export class OAuth {
  readonly providers: Providers;
  readonly flows: Flows;
  readonly codes: CodeExchange;
  readonly #options: OAuthOptions;
  readonly #idpTokens: IdpTokens;
  readonly #roleSync: RoleSync;

  constructor(options: OAuthOptions) {
    const { host } = options;
    const { config, egress } = host;
    const shared = { ...options, config, egress };
    const isLive = { isProduction: isProduction(config.nodeEnvironment, host.url) };
    const client = new ProviderClient(egress);
    const providers = new Providers({ ...shared, ...isLive });
    const flows = new Flows({ ...shared, ...isLive, providers });
    const idpTokens = new IdpTokens({ ...shared, client });
    const users = new FederatedUsers(shared);
    this.#options = options;
    this.providers = providers;
    this.flows = flows;
    this.codes = new CodeExchange({ ...shared, flows, providers, client, users });
    this.#idpTokens = idpTokens;
    this.#roleSync = new RoleSync({ ...options, providers, client, idpTokens });
  }

  /** Whether browsers reach this service over TLS, so that cookies are to be kept to it. */
  get isEncrypted(): boolean {
    return this.#options.host.url.startsWith('https:');
  }

  /** Whether a user came through no provider, so that there is nothing to be learned of one. */
  isLocal(userId: string): Promise<boolean> {
    return this.#roleSync.isLocal(userId);
  }

  /**
   * Takes from a user the groups that the provider no longer names; changes nothing when it does not
   * answer within 3 seconds, or the user came through none.
   */
  syncRoles(userId: string, origin?: Origin): Promise<void> {
    return this.#roleSync.syncRoles(userId, origin);
  }

  /** The provider's tokens of the caller's own login; throws `idp_login_required` once they are gone. */
  async ownIdpTokens(identity: Identity, origin: Origin): Promise<ProviderTokens> {
    requireLoginSession(identity);
    const { sql, audit } = this.#options;
    const stored = await findIdentityOf(sql, identity.subject);
    if (!stored) {
      throw new Fault('not_found', 'this user came through no identity provider', {
        reason: 'idp_token_not_found',
      });
    }
    const provider = await this.providers.readOf(stored);
    const tokens = await this.#idpTokens.fresh(stored, provider);
    await audit.record({
      eventType: 'idp_token_issued',
      userId: identity.subject,
      clientId: identity.clientId,
      origin,
      provider: stored.provider,
    });
    return tokens;
  }

  /**
   * The next pair of a login through a provider, and that provider's next tokens. The provider goes
   * first: whatever it refuses, the caller still has a refresh token that counts. A repetition gets
   * the tokens that the provider gave the first time. Throws
   * `invalid_grant` when it gives no more tokens, and `provider_error` when it fails.
   */
  async refresh(
    claims: RefreshClaims,
    { provider, ...options }: RefreshOptions & { readonly provider: string | undefined },
  ): Promise<{ readonly pair: TokenPair; readonly tokens: ProviderTokens }> {
    const { sql, sessions, audit } = this.#options;
    const identity = await findIdentityOf(sql, claims.subject);
    const isTheirs = identity && (provider === undefined || identity.provider === provider);
    if (!isTheirs) {
      const reason = 'wrong_provider';
      await recordRefusal(audit, claims, { reason, origin: options.origin });
      throw invalidGrant(reason);
    }
    const { isRepeated, tokenAgeMs } = await sessions.requireRefreshable(claims, options);
    // What came for this very token may be there before its session has the next one.
    const since = new Date(Date.now() - Math.min(tokenAgeMs, sharedMs));
    const renewal = { since, origin: options.origin, isRepeated };
    const tokens = await this.#renew(identity, renewal).catch((error: unknown) =>
      this.#explainRenewal(error, claims, options.origin),
    );
    return { pair: await sessions.refresh(claims, options), tokens };
  }

  /**
   * The provider's next tokens, once the user has only the groups that they still show; for a
   * repetition those that it gave the first time.
   */
  async #renew(
    identity: IdentityRow,
    {
      since,
      origin,
      isRepeated,
    }: { readonly since: Date; readonly origin: Origin; readonly isRepeated: boolean },
  ): Promise<ProviderTokens> {
    const provider = await this.providers.readOf(identity);
    if (!isRepeated) {
      await this.#idpTokens.renew(identity, { provider, since });
      await this.syncRoles(identity.user_id, origin);
    }
    const current = await findIdentityOf(this.#options.sql, identity.user_id);
    return this.#idpTokens.fresh(current ?? identity, provider);
  }

  /** Who gets no more tokens from the provider has no more groups there either. */
  async #explainRenewal(error: unknown, claims: RefreshClaims, origin: Origin): Promise<never> {
    if (!isLoginRequired(error)) throw error;
    await this.syncRoles(claims.subject, origin);
    const reason = 'idp_login_required';
    await recordRefusal(this.#options.audit, claims, { reason, origin });
    throw new Fault('invalid', 'log in at the identity provider again', {
      reason: 'invalid_grant',
      detail: { reason },
      cause: error,
    });
  }

  /** Gives identities of before their keys; to be done before anybody logs in. */
  async rekeyIdentities(): Promise<void> {
    const { sql, sealer } = this.#options;
    await rekeyOriginIdentities(sql, sealer, await this.providers.list());
  }

  /** Removes logins that led nowhere, and those that ended a day ago. */
  async deleteExpired(now: Date): Promise<void> {
    const consumedBefore = new Date(now.getTime() - consumedFlowsKeptMs);
    await deleteOldFlows(this.#options.sql, { now, consumedBefore });
  }
}
