import type { Sealer } from '../../kit/secrets/sealing.ts';
import { inTransaction } from '../store.ts';
import type { IdentityRow, ProviderConfig, Sql, SqlTransaction } from '../tables.ts';
import { lockIdentitiesOf, lockOriginIdentities, rekeyIdentity } from './identity-store.ts';
import { openTokens, sealTokens } from './provider-tokens.ts';

const batchSize = 500;

/**
 * Whose word an identity is: the issuer, or the authorization address of a provider that names none,
 * for two of one host may number their users alike. Of an address as GitLab's that is its base, which
 * GitLab names as its issuer.
 */
export function authorityOf({
  issuer,
  authorizationURL,
}: Pick<ProviderConfig, 'issuer' | 'authorizationURL'>): string {
  if (issuer !== undefined) return issuer;
  const { origin, pathname, search } = new URL(authorizationURL);
  return `${origin}${pathname.replace(/\/oauth\/authorize\/?$/, '')}${search}`;
}

/**
 * Gives identities that are stored under no more than the origin of their provider the key of that
 * provider, as it is configured; those of providers that are not keep theirs. Done once.
 */
export async function rekeyOriginIdentities(
  sql: Sql,
  sealer: Sealer,
  providers: readonly { readonly name: string; readonly config: ProviderConfig }[],
): Promise<void> {
  const configOf = new Map(providers.map(({ name, config }) => [name, config]));
  const keyOf = ({ provider, issuer }: IdentityRow) => {
    const config = configOf.get(provider);
    const isByOrigin = config?.issuer === undefined;
    const isTheirs = isByOrigin && config && new URL(config.authorizationURL).origin === issuer;
    return isTheirs ? authorityOf(config) : issuer;
  };
  for (let count = batchSize; count === batchSize;) {
    count = await inTransaction(sql, async (trx) => {
      const identities = await lockOriginIdentities(trx, batchSize);
      for (const identity of identities) await rekey(trx, sealer, [identity, keyOf(identity)]);
      return identities.length;
    });
  }
}

/** Keeps the people of a provider whose configuration has gained the issuer that it always was. */
export async function keepIdentities(
  trx: SqlTransaction,
  sealer: Sealer,
  change: {
    readonly provider: string;
    readonly before: ProviderConfig;
    readonly after: ProviderConfig;
  },
): Promise<void> {
  const { provider, before, after } = change;
  const isGained = before.issuer === undefined && after.issuer !== undefined;
  const isSame = addressesOf(before) === addressesOf(after);
  const [from, to] = [authorityOf(before), authorityOf(after)];
  if (!isGained || !isSame || from === to) return;
  const identities = await lockIdentitiesOf(trx, { provider, issuer: from });
  for (const identity of identities) await rekey(trx, sealer, [identity, to]);
}

function addressesOf({ authorizationURL, tokenURL, userInfoURL }: ProviderConfig): string {
  return JSON.stringify([authorizationURL, tokenURL, userInfoURL]);
}

/** The tokens are sealed for the key, so they are sealed anew. */
async function rekey(
  trx: SqlTransaction,
  sealer: Sealer,
  [identity, issuer]: readonly [IdentityRow, string],
): Promise<void> {
  const tokens = issuer === identity.issuer ? undefined : openTokens(sealer, identity);
  const { subject } = identity;
  const sealed = tokens ? sealTokens(sealer, { issuer, subject }, tokens) : {};
  await rekeyIdentity(trx, identity, { ...sealed, issuer });
}
