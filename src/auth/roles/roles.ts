import { Fault } from '../../kit/errors.ts';
import { allows } from '../../kit/permissions.ts';
import { listGroupMappings } from './group-mapping-store.ts';
import type { GroupMappingRow, Sql } from '../tables.ts';
import { intersectPermissions } from '../tokens/tokens.ts';

/** The role that bootstraps the suite: it may do everything. */
export const adminRole = 'admin';

/** What decides what a user may do: the groups alone, and the roles where there are none. */
export interface RoleHolder {
  readonly roles: readonly string[];
  /** Null when an administrator gave the roles. */
  readonly groups: readonly string[] | null;
}

/** What roles allow and groups give, held in memory because every token needs it. */
export interface RoleTable {
  /**
   * The union over the mappings of the holder's groups, sorted. A role that an administrator gave
   * stands for what all mappings of that role have in common, so that no team's mapping widens it.
   */
  permissionsOf(holder: RoleHolder): string[];
  /** The roles that the holder's groups give, sorted, or those that an administrator gave. */
  rolesOf(holder: RoleHolder): string[];
  /** Throws `invalid` when a role does not exist. */
  requireKnown(roles: readonly string[]): void;
  /** The roles that allow the permission to whom an administrator gave them. */
  rolesWith(permission: string): string[];
}

/** A role table that follows the database: each `reload` reads it anew. */
export class LiveRoleTable implements RoleTable {
  readonly #sql: Sql;
  #table: RoleTable = createRoleTable([]);
  #reading: Promise<void> = Promise.resolve();

  private constructor(sql: Sql) {
    this.#sql = sql;
  }

  static async open(sql: Sql): Promise<LiveRoleTable> {
    const table = new LiveRoleTable(sql);
    await table.reload();
    return table;
  }

  /**
   * Resolves once what was committed before the call is in force. Readings come one after the other,
   * so that an older one never replaces a newer.
   */
  reload(): Promise<void> {
    const reading = this.#reading.then(() => this.#read());
    this.#reading = reading.catch(() => {});
    return reading;
  }

  permissionsOf(holder: RoleHolder): string[] {
    return this.#table.permissionsOf(holder);
  }

  rolesOf(holder: RoleHolder): string[] {
    return this.#table.rolesOf(holder);
  }

  requireKnown(roles: readonly string[]): void {
    this.#table.requireKnown(roles);
  }

  rolesWith(permission: string): string[] {
    return this.#table.rolesWith(permission);
  }

  async #read(): Promise<void> {
    this.#table = createRoleTable(await listGroupMappings(this.#sql));
  }
}

/** What the mappings mean. */
export function createRoleTable(mappings: readonly GroupMappingRow[]): RoleTable {
  const byGroup = new Map(mappings.map((row) => [row.idp_group, row]));
  const byRole = permissionsByRole(mappings);
  const mappingsOf = (groups: readonly string[]) =>
    groups.map((group) => byGroup.get(group)).filter((row) => row !== undefined);
  return {
    permissionsOf: ({ roles, groups }) =>
      groups
        ? sorted(mappingsOf(groups).flatMap(({ permissions }) => permissions))
        : sorted(roles.flatMap((role) => byRole.get(role) ?? [])),
    rolesOf: ({ roles, groups }) =>
      groups ? sorted(mappingsOf(groups).map((row) => row.platform_role)) : [...roles],
    requireKnown: (roles) => {
      const unknown = roles.find((role) => !byRole.has(role));
      if (unknown === undefined) return;
      throw new Fault('invalid', `there is no role ${JSON.stringify(unknown)}`, {
        reason: 'unknown_role',
        detail: { roles: [...byRole.keys()].toSorted() },
      });
    },
    rolesWith: (permission) =>
      [...byRole].filter(([, held]) => allows(held, permission)).map(([role]) => role),
  };
}

/** What all mappings of each role have in common. */
function permissionsByRole(
  mappings: readonly GroupMappingRow[],
): ReadonlyMap<string, readonly string[]> {
  const byRole = new Map<string, readonly string[]>();
  for (const { platform_role: role, permissions } of mappings) {
    const common = byRole.get(role);
    byRole.set(role, common ? intersectPermissions(common, permissions) : permissions);
  }
  return byRole;
}

function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}
