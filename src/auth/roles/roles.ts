import { Fault } from '../../kit/errors.ts';
import { allows } from '../../kit/permissions.ts';
import { listGroupMappings } from './group-mapping-store.ts';
import type { GroupMappingRow, Sql } from '../tables.ts';

/** The role that bootstraps the suite: it may do everything. */
export const adminRole = 'admin';

/** What roles allow and groups give, held in memory because every token needs it. */
export interface RoleTable {
  /** The union over all roles, sorted; roles that no longer exist give nothing. */
  permissionsOf(roles: readonly string[]): string[];
  /** Throws `invalid` when a role does not exist. */
  requireKnown(roles: readonly string[]): void;
  /** The roles that allow the permission. */
  rolesWith(permission: string): string[];
  /** The role of a group, by its exact full path; undefined when it is not mapped. */
  roleOfGroup(path: string): string | undefined;
  /** The roles of all these groups, each once, sorted. */
  rolesOfGroups(paths: readonly string[]): string[];
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

  permissionsOf(roles: readonly string[]): string[] {
    return this.#table.permissionsOf(roles);
  }

  requireKnown(roles: readonly string[]): void {
    this.#table.requireKnown(roles);
  }

  rolesWith(permission: string): string[] {
    return this.#table.rolesWith(permission);
  }

  roleOfGroup(path: string): string | undefined {
    return this.#table.roleOfGroup(path);
  }

  rolesOfGroups(paths: readonly string[]): string[] {
    return this.#table.rolesOfGroups(paths);
  }

  async #read(): Promise<void> {
    this.#table = createRoleTable(await listGroupMappings(this.#sql));
  }
}

/** What the mappings mean; the same role in several of them carries the permissions of all. */
export function createRoleTable(mappings: readonly GroupMappingRow[]): RoleTable {
  const roleByGroup = new Map(mappings.map((row) => [row.idp_group, row.platform_role]));
  const permissionsByRole = new Map<string, readonly string[]>();
  for (const { platform_role: role, permissions } of mappings) {
    permissionsByRole.set(role, [...(permissionsByRole.get(role) ?? []), ...permissions]);
  }
  const roleOfGroup = (path: string) => roleByGroup.get(path);
  return {
    permissionsOf: (roles) => sorted(roles.flatMap((role) => permissionsByRole.get(role) ?? [])),
    requireKnown: (roles) => {
      const unknown = roles.find((role) => !permissionsByRole.has(role));
      if (unknown === undefined) return;
      throw new Fault('invalid', `there is no role ${JSON.stringify(unknown)}`, {
        reason: 'unknown_role',
        detail: { roles: [...permissionsByRole.keys()].toSorted() },
      });
    },
    rolesWith: (permission) =>
      [...permissionsByRole].filter(([, held]) => allows(held, permission)).map(([role]) => role),
    roleOfGroup,
    rolesOfGroups: (paths) => sorted(paths.map(roleOfGroup).filter((role) => role !== undefined)),
  };
}

function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}
