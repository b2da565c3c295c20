import { isUniqueViolation } from '../../kit/database/sql-errors.ts';
import { newId, newSecret } from '../../kit/ids.ts';
import { findUser, insertUser, updateUser } from '../accounts/user-store.ts';
import { newUsernameKey } from '../accounts/usernames.ts';
import type { AuditLog, Origin } from '../audit/audit.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { inTransaction } from '../store.ts';
import type { IdentityRow, Sql, UserRow } from '../tables.ts';
import {
  findIdentity,
  insertIdentity,
  storeLoginTokens,
  type IdentityKey,
} from './identity-store.ts';
import { groupsOf, type Profile } from './profile.ts';
import type { ProviderTokens } from './provider-client.ts';
import { sealTokens } from './provider-tokens.ts';

export interface FederatedUsersOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
}

/** A login that a provider vouches for. */
export interface FederatedLogin {
  readonly provider: string;
  readonly issuer: string;
  readonly profile: Profile;
  readonly tokens: ProviderTokens;
  readonly roles: readonly string[];
  readonly clientId: string;
  readonly origin: Origin;
}

const numberedNamesMax = 20;
const attemptsMax = 30;

/**
 * Users who come through a provider. Issuer and subject alone say who somebody is: nobody is ever
 * found by name or e-mail address, which others may come to hold.
 */
export class FederatedUsers {
  readonly #options: FederatedUsersOptions;

  constructor(options: FederatedUsersOptions) {
    this.#options = options;
  }

  /** The user of an identity, made when it is new, with the groups, roles and tokens of this login. */
  async admit(login: FederatedLogin): Promise<UserRow> {
    const key = { issuer: login.issuer, subject: login.profile.subject };
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const known = await findIdentity(this.#options.sql, key);
      const user = known ? await this.#renew(known, login) : await this.#create(login, attempt);
      if (user) return user;
    }
    throw new Error('no username was free for a new user');
  }

  /** Undefined when the user was deleted meanwhile. */
  async #renew(identity: IdentityRow, login: FederatedLogin): Promise<UserRow | undefined> {
    const { sql, sealer } = this.#options;
    const { provider, profile, roles } = login;
    const sealed = sealTokens(sealer, identity, login.tokens);
    const user = await findUser(sql, identity.user_id);
    if (!user || user.disabled) return user;
    return inTransaction(sql, async (trx) => {
      const { issuer, subject } = identity;
      await storeLoginTokens(trx, { issuer, subject, provider, ...sealed });
      return updateUser(trx, identity.user_id, {
        name: profile.name,
        email: profile.email,
        provider,
        roles: [...roles],
        groups: groupsOf(profile),
        updated_at: new Date(),
      });
    });
  }

  /** Undefined when the name was taken, or another login of the same identity was faster. */
  async #create(login: FederatedLogin, attempt: number): Promise<UserRow | undefined> {
    const { sql, audit } = this.#options;
    const user = toUser(login, usernameFor(login.profile, attempt));
    const identity = this.#toIdentity(login, user.id);
    try {
      await inTransaction(sql, async (trx) => {
        await insertUser(trx, user);
        await insertIdentity(trx, identity);
        await audit.recordWithin(trx, {
          eventType: 'user_created',
          userId: user.id,
          clientId: login.clientId,
          origin: login.origin,
          provider: login.provider,
          facts: { targetUserId: user.id, username: user.username, roles: user.roles },
        });
      });
      return user;
    } catch (error) {
      if (isUniqueViolation(error)) return undefined;
      throw error;
    }
  }

  #toIdentity({ issuer, profile, provider, tokens }: FederatedLogin, userId: string): IdentityRow {
    const key: IdentityKey = { issuer, subject: profile.subject };
    return {
      ...key,
      ...sealTokens(this.#options.sealer, key, tokens),
      user_id: userId,
      provider,
      token_version: 1,
      lease_until: null,
    };
  }
}

function toUser({ profile, provider, roles }: FederatedLogin, username: string): UserRow {
  const now = new Date();
  return {
    id: newId('usr'),
    username,
    username_key: newUsernameKey(username),
    email: profile.email,
    name: profile.name,
    password_hash: null,
    roles: [...roles],
    groups: groupsOf(profile),
    disabled: false,
    provider,
    created_at: now,
    updated_at: now,
    last_login_at: null,
  };
}

/** The name at the provider, with a number while it is taken, and then with something random. */
function usernameFor({ username }: Profile, attempt: number): string {
  const cleaned = username
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{N}._@+-]/gu, '')
    .replace(/^[._@+-]+/, '');
  const base = Array.from(cleaned).slice(0, 60).join('') || 'user';
  if (attempt === 0) return base;
  const suffix = attempt < numberedNamesMax ? String(attempt + 1) : newSecret(6);
  return `${base}-${suffix}`;
}
