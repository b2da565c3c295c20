import { Fault } from '../../kit/errors.ts';
import { listGroupMappings } from './group-mapping-store.ts';
import type { Sql } from '../tables.ts';

/** The role that bootstraps the suite: it may do everything. */
export const adminRole = 'admin';

/** What roles allow, held in memory because every token needs it. */
export interface RoleTable {
  /** The union over all roles, sorted; roles that no longer exist give nothing. */
  permissionsOf(roles: readonly string[]): string[];
  /** Throws `invalid` when a role does not exist. */
  requireKnown(roles: readonly string[]): void;
}

/** Reads the table; the same role in several group mappings carries the permissions of all. */
export async function readRoleTable(sql: Sql): Promise<RoleTable> {
  const permissionsByRole = new Map<string, Set<string>>();
  for (const { platform_role: role, permissions } of await listGroupMappings(sql)) {
    const known = permissionsByRole.get(role) ?? [];
    permissionsByRole.set(role, new Set([...known, ...permissions]));
  }
  return {
    permissionsOf: (roles) => {
      const permissions = roles.flatMap((role) => [...(permissionsByRole.get(role) ?? [])]);
      return [...new Set(permissions)].toSorted();
    },
    requireKnown: (roles) => {
      const unknown = roles.find((role) => !permissionsByRole.has(role));
      if (unknown === undefined) return;
      throw new Fault('invalid', `there is no role ${JSON.stringify(unknown)}`, {
        reason: 'unknown_role',
        detail: { roles: [...permissionsByRole.keys()].toSorted() },
      });
    },
  };
}
