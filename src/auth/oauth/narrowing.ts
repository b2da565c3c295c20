import { mayGrant } from '../../kit/permissions.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent } from '../audit/audit-event.ts';
import { listGroupMappings } from '../roles/group-mapping-store.ts';
import { createRoleTable } from '../roles/roles.ts';
import type { SqlTransaction, UserRow } from '../tables.ts';
import type { Target } from '../tokens/revoker.ts';

/** A user of a provider before and after the provider told the groups again. */
export interface GroupChange {
  readonly before: UserRow;
  readonly after: UserRow;
  /** What brought it, for the audit log. */
  readonly source: Pick<AuditEvent, 'clientId' | 'origin' | 'provider'>;
}

/**
 * Records what a user has lost, and answers what ends with it: where that is more than a group that
 * gives nothing, every access token so far, those that API keys were traded for too.
 */
export async function endOfLost(
  trx: SqlTransaction,
  audit: AuditLog,
  { before, after, source }: GroupChange,
): Promise<Target[]> {
  const groups = missing(before.groups ?? [], after.groups ?? []);
  const roles = missing(before.roles, after.roles);
  if (groups.length === 0 && roles.length === 0) return [];
  await audit.recordWithin(trx, {
    ...source,
    eventType: 'roles_narrowed',
    userId: after.id,
    facts: { groupRoles: after.roles.join(' '), groupsLost: groups.length },
  });
  const table = createRoleTable(await listGroupMappings(trx));
  const isLess = !mayGrant(table.permissionsOf(after), table.permissionsOf(before));
  return roles.length > 0 || isLess ? [{ kind: 'subject', id: after.id }] : [];
}

function missing(before: readonly string[], after: readonly string[]): string[] {
  const left = new Set(after);
  return before.filter((name) => !left.has(name));
}
