import { Fault } from '../../kit/errors.ts';
import type { Egress } from '../../kit/egress/egress.ts';
import { administrationEvent, requireHeld, type Administrator } from '../accounts/administrator.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuthConfig } from '../config.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { listGroupMappings } from '../roles/group-mapping-store.ts';
import { inTransaction } from '../store.ts';
import type { IdentityRow, OAuthProviderRow, ProviderConfig, Sql } from '../tables.ts';
import { discoverProvider } from './discovery.ts';
import { authorityOf, keepIdentities } from './identity-keys.ts';
import { checkProvider, type WantedProvider } from './provider-check.ts';
import { idpLoginRequired } from './provider-fetch.ts';
import { deleteProvider, findProvider, listProviders, saveProvider } from './provider-store.ts';

/** An identity provider that logins may go through. */
export interface Provider {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly clientSecret: string;
  /** Differs whenever the configuration does. */
  readonly version: string;
}

export interface ProvidersOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly egress: Egress;
  readonly audit: AuditLog;
  readonly config: AuthConfig;
  readonly isProduction: boolean;
}

/** The provider that the environment describes. */
export const defaultProvider = 'idp';

/** The issuer as the protocol compares it, or the origin of a provider that names none. */
export function issuerOf({ config }: Pick<Provider, 'config'>): string {
  return config.issuer ?? new URL(config.authorizationURL).origin;
}

/** The identity providers, read from the database each time, so that all replicas agree at once. */
export class Providers {
  readonly #options: ProvidersOptions;

  constructor(options: ProvidersOptions) {
    this.#options = options;
  }

  /** Throws `provider_not_configured` or `unknown_provider`. */
  async read(name: string): Promise<Provider> {
    const provider = await this.#find(name);
    if (provider) return provider;
    const isDefault = name === defaultProvider;
    throw new Fault(
      'invalid',
      isDefault ? 'no identity provider is configured' : 'no such provider',
      {
        reason: isDefault ? 'provider_not_configured' : 'unknown_provider',
      },
    );
  }

  /**
   * The provider that vouched for an identity; throws `idp_login_required` once it is configured no
   * longer, or its name stands for another one, who must never see the tokens of this one.
   */
  async readOf({ provider: name, issuer }: IdentityRow): Promise<Provider> {
    const provider = await this.#find(name);
    if (provider && authorityOf(provider.config) === issuer) return provider;
    throw idpLoginRequired();
  }

  /** Those of the database, and the environment's unless one of them has its name. */
  async list(): Promise<{ name: string; config: ProviderConfig; updatedAt: Date | undefined }[]> {
    const rows = await listProviders(this.#options.sql);
    const stored = rows.map((row) => ({ ...row, updatedAt: row.updated_at }));
    const own = ofEnvironment(this.#options.config);
    if (!own || rows.some(({ name }) => name === own.name)) return stored;
    return [{ ...own, updatedAt: undefined }, ...stored];
  }

  /**
   * Puts a provider in force. Whoever names a provider decides whom it lets in, so that needs all
   * that any group mapping gives. With an issuer, its metadata must name the same one (OpenID
   * Connect Discovery, section 4.3).
   */
  async configure(name: string, wanted: WantedProvider, by: Administrator): Promise<Date> {
    const { sql, sealer, audit, egress, isProduction } = this.#options;
    await this.#requireAllGrants(by);
    checkProvider(wanted, { egress, isProduction });
    const { clientSecret, ...config } = await discoverProvider(wanted, egress);
    const updatedAt = new Date();
    const row = {
      name,
      config: { ...config, scopes: scopesOf(config) },
      client_secret: sealer.seal(Buffer.from(clientSecret), sealContext(name)),
      updated_at: updatedAt,
    };
    const facts = { name, issuer: config.issuer, tokenURL: config.tokenURL };
    const known = await this.#find(name);
    await inTransaction(sql, async (trx) => {
      const change = known && { provider: name, before: known.config, after: row.config };
      if (change) await keepIdentities(trx, sealer, change);
      await saveProvider(trx, row);
      await audit.recordWithin(trx, administrationEvent(by, 'provider_configured', facts));
    });
    return updatedAt;
  }

  /**
   * Takes a provider out of force; `idp` falls back to the environment. Its users are left no groups
   * at their next refresh.
   */
  async delete(name: string, by: Administrator): Promise<void> {
    const { sql, audit } = this.#options;
    await this.#requireAllGrants(by);
    await inTransaction(sql, async (trx) => {
      if (!(await deleteProvider(trx, name))) {
        throw new Fault('not_found', 'no such provider', { reason: 'provider_not_found' });
      }
      await audit.recordWithin(trx, administrationEvent(by, 'provider_deleted', { name }));
    });
  }

  async #find(name: string): Promise<Provider | undefined> {
    const row = await findProvider(this.#options.sql, name);
    if (row) return this.#open(row);
    return name === defaultProvider ? ofEnvironment(this.#options.config) : undefined;
  }

  async #requireAllGrants(by: Administrator): Promise<void> {
    const mappings = await listGroupMappings(this.#options.sql);
    requireHeld(
      by,
      mappings.flatMap(({ permissions }) => permissions),
    );
  }

  #open({ name, config, client_secret, updated_at }: OAuthProviderRow): Provider {
    const clientSecret = this.#options.sealer.unseal(client_secret, sealContext(name)).toString();
    return { name, config, clientSecret, version: `${name} ${updated_at.toISOString()}` };
  }
}

function scopesOf({ scopes, issuer }: Pick<WantedProvider, 'scopes' | 'issuer'>): string {
  const wanted = scopes ?? 'openid profile email';
  const isComplete = issuer === undefined || wanted.split(' ').includes('openid');
  return isComplete ? wanted : `openid ${wanted}`;
}

function sealContext(name: string): string {
  return `oauth provider ${name}`;
}

/** GitLab at the address that the environment names; undefined when that says too little. */
function ofEnvironment(config: AuthConfig): Provider | undefined {
  const { idpUrl, idpClientId, idpClientSecret, idpCallbackUrl, idpScopes: scopes } = config;
  if (!idpUrl || !idpClientId || !idpClientSecret || !idpCallbackUrl) return undefined;
  const base = idpUrl.replace(/\/+$/, '');
  const isOpenId = scopes.split(' ').includes('openid');
  return {
    name: defaultProvider,
    config: {
      authorizationURL: `${base}/oauth/authorize`,
      tokenURL: `${base}/oauth/token`,
      userInfoURL: isOpenId ? `${base}/oauth/userinfo` : `${base}/api/v4/user`,
      groupsURL: `${base}/api/v4/groups`,
      clientID: idpClientId,
      callbackURL: idpCallbackUrl,
      scopes,
    },
    clientSecret: idpClientSecret.reveal(),
    version: 'environment',
  };
}
