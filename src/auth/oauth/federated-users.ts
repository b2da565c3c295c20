import { isUniqueViolation } from '../../kit/database/sql-errors.ts';
import { newId, newSecret } from '../../kit/ids.ts';
import { findUserForUpdate, insertUser, updateUser } from '../accounts/user-store.ts';
import { newUsernameKey } from '../accounts/usernames.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Origin } from '../audit/audit-event.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { inTransaction } from '../store.ts';
import type { IdentityRow, Sql, UserRow } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
import {
  findIdentity,
  insertIdentity,
  storeLoginTokens,
  type IdentityKey,
} from './identity-store.ts';
import { endOfLost } from './narrowing.ts';
import { groupsOf, type Profile } from './profile.ts';
import { sealTokens, type ProviderTokens } from './provider-tokens.ts';

export interface FederatedUsersOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
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

  /** Undefined when the user was deleted meanwhile. What the groups no longer give ends at once. */
  async #renew(identity: IdentityRow, login: FederatedLogin): Promise<UserRow | undefined> {
    const { sealer, audit, revoker } = this.#options;
    const { provider, clientId, origin } = login;
    const { issuer, subject } = identity;
    const sealed = sealTokens(sealer, identity, login.tokens);
    let user: UserRow | undefined;
    await revoker.revoke(async (trx) => {
      const before = await findUserForUpdate(trx, identity.user_id);
      user = before;
      if (!before || before.disabled) return [];
      await storeLoginTokens(trx, { issuer, subject, provider, ...sealed });
      const after = await updateUser(trx, before.id, toColumns(login));
      user = after;
      const source = { clientId, origin, provider };
      return after ? endOfLost(trx, audit, { before, after, source }) : [];
    });
    return user;
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
      keyed_by_origin: false,
    };
  }
}

/** What each login tells anew of a user. */
function toColumns({ profile, provider, roles }: FederatedLogin) {
  return {
    name: profile.name,
    email: profile.email,
    provider,
    roles: [...roles],
    groups: groupsOf(profile),
    updated_at: new Date(),
  };
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
    token_epoch: 0,
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
