import { recentEntries } from '../../kit/recent-entries.ts';
import { Fault } from '../../kit/errors.ts';
import { findUser, findUserForUpdate, narrowUser } from '../accounts/user-store.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Origin } from '../audit/audit-event.ts';
import { listGroupMappings } from '../roles/group-mapping-store.ts';
import { createRoleTable } from '../roles/roles.ts';
import type { Sql } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
import { findIdentityOf } from './identity-store.ts';
import type { IdpTokens } from './idp-tokens.ts';
import { endOfLost } from './narrowing.ts';
import { groupsOf, type ProviderGroup } from './profile.ts';
import type { ProviderClient } from './provider-client.ts';
import { isLoginRequired, providerError } from './provider-fetch.ts';
import type { Providers } from './providers.ts';
import { endOrLate } from '../../kit/time/time-limits.ts';

/** A group with the platform role that it gives, where a mapping names it. */
export interface GroupRole {
  readonly id?: number;
  readonly name: string;
  readonly role?: string;
}

/** The role of each group whose path a mapping names exactly. */
export async function readGroupRoles(
  sql: Sql,
  groups: readonly ProviderGroup[],
): Promise<GroupRole[]> {
  const mappings = await listGroupMappings(sql);
  const roleOf = new Map(mappings.map((mapping) => [mapping.idp_group, mapping.platform_role]));
  return groups.map(({ id, path }) => {
    const role = roleOf.get(path);
    return {
      ...(id === undefined ? {} : { id }),
      name: path,
      ...(role === undefined ? {} : { role }),
    };
  });
}

/** The roles that groups give, each once. */
export function rolesOf(groups: readonly GroupRole[]): string[] {
  return [...new Set(groups.flatMap(({ role }) => role ?? []))].toSorted();
}

export interface RoleSyncOptions {
  readonly sql: Sql;
  readonly providers: Providers;
  readonly client: ProviderClient;
  readonly idpTokens: IdpTokens;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
}

const timeoutMs = 3_000;
const localUsersMax = 10_000;
const ownOrigin: Origin = { ip: '', userAgent: '' };

/** Takes from users the groups that they are no longer in, and with them what those gave. */
export class RoleSync {
  readonly #options: RoleSyncOptions;
  /** Users who came through no provider; that never changes. */
  readonly #local = recentEntries<true>(localUsersMax);
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: RoleSyncOptions) {
    this.#options = options;
  }

  /** Whether a user came through no provider. */
  async isLocal(userId: string): Promise<boolean> {
    if (this.#local.has(userId)) return true;
    if (await findIdentityOf(this.#options.sql, userId)) return false;
    this.#local.set(userId, true);
    return true;
  }

  /**
   * Reads the groups of a user again and leaves those that the user is still in; only a login adds
   * any. A provider that does not answer within 3 seconds changes nothing; one that refuses the
   * user's token for good, or is no longer configured, takes every group. All who ask while a reading
   * is under way share it. Nothing happens for users who came through no provider.
   */
  async syncRoles(userId: string, origin: Origin = ownOrigin): Promise<void> {
    if (this.#local.has(userId)) return;
    const waiting = this.#underWay.get(userId);
    if (waiting) return waiting;
    const syncing = this.#sync(userId, origin).finally(() => this.#underWay.delete(userId));
    this.#underWay.set(userId, syncing);
    return syncing;
  }

  async #sync(userId: string, origin: Origin): Promise<void> {
    const groups = await endOrLate(this.#readGroups(userId), timeoutMs);
    if (groups) await this.#narrow(userId, groups, origin);
  }

  /** Undefined when there is nothing to be learned. */
  async #readGroups(userId: string): Promise<readonly string[] | undefined> {
    const { sql, providers, client, idpTokens } = this.#options;
    try {
      const identity = await findIdentityOf(sql, userId);
      if (!identity) {
        this.#local.set(userId, true);
        return undefined;
      }
      if (identity.access_token === null) return [];
      const provider = await providers.readOf(identity);
      const { accessToken } = await idpTokens.fresh(identity, provider);
      const profile = await client
        .readProfile(provider, accessToken, timeoutMs)
        .catch((error: unknown) => this.#explain(error, userId, accessToken));
      if (profile.subject !== identity.subject) return [];
      return groupsOf(profile);
    } catch (error) {
      return groupsAfter(error);
    }
  }

  /** A token that the provider refuses is of no use to anybody else either, while it is the newest. */
  async #explain(error: unknown, userId: string, accessToken: string): Promise<never> {
    if (!isLoginRequired(error)) throw error;
    const isNewest = await this.#options.idpTokens.forget(userId, accessToken);
    throw isNewest ? error : providerError('has replaced the token', error);
  }

  async #narrow(userId: string, groups: readonly string[], origin: Origin): Promise<void> {
    const { sql, audit, revoker } = this.#options;
    const [user, mappings] = await Promise.all([findUser(sql, userId), listGroupMappings(sql)]);
    if (!user) return;
    const now = new Set(groups);
    const kept = user.groups?.filter((group) => now.has(group)) ?? groups;
    const roles = createRoleTable(mappings).rolesOf({ roles: [], groups: kept });
    const isInAll = (user.groups ?? []).every((group) => now.has(group));
    if (isInAll && user.roles.every((role) => roles.includes(role))) return;
    await revoker.revoke(async (trx) => {
      const before = await findUserForUpdate(trx, userId);
      if (!before) return [];
      const after = await narrowUser(trx, userId, { groups, roles });
      const source = { origin, provider: 'refresh-token' };
      return after ? endOfLost(trx, audit, { before, after, source }) : [];
    });
  }
}

/** No groups after a refusal of the user, no change after any other failure of the provider. */
function groupsAfter(error: unknown): readonly string[] | undefined {
  if (!(error instanceof Fault) || error.code === 'internal') throw error;
  return isLoginRequired(error) ? [] : undefined;
}
