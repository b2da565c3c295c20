import type { GroupMappingRow, Sql } from '../tables.ts';

export function listGroupMappings(sql: Sql): Promise<GroupMappingRow[]> {
  return sql.selectFrom('group_mappings').selectAll().orderBy('idp_group').execute();
}
