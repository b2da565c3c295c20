import type { GroupMappingRow } from '../tables.ts';

/** What a group gives to those who are in it: a role, and permissions. */
export interface GroupMapping {
  readonly idpGroup: string;
  readonly platformRole: string;
  readonly permissions: readonly string[];
}

/** A mapping that stays but says something else. */
export interface ChangedMapping {
  readonly idpGroup: string;
  readonly before: GroupMapping;
  readonly after: GroupMapping;
}

/** What differs between two sets of mappings. */
export interface MappingDifference {
  readonly added: readonly GroupMapping[];
  readonly removed: readonly GroupMapping[];
  readonly changed: readonly ChangedMapping[];
}

/** What has to happen to `before` to make it `after`; the order of permissions means nothing. */
export function compareMappings(
  before: readonly GroupMapping[],
  after: readonly GroupMapping[],
): MappingDifference {
  const old = new Map(before.map((mapping) => [mapping.idpGroup, mapping]));
  const groups = new Set(after.map(({ idpGroup }) => idpGroup));
  const changed = after.flatMap((mapping) => {
    const known = old.get(mapping.idpGroup);
    const isChanged = known !== undefined && textOf(known) !== textOf(mapping);
    return isChanged ? [{ idpGroup: mapping.idpGroup, before: known, after: mapping }] : [];
  });
  return {
    added: after.filter(({ idpGroup }) => !old.has(idpGroup)),
    removed: before.filter(({ idpGroup }) => !groups.has(idpGroup)),
    changed,
  };
}

/** The mappings that the difference touches, as they were and as they will be. */
export function touchedMappings({ added, removed, changed }: MappingDifference): GroupMapping[] {
  return [...added, ...removed, ...changed.flatMap((one) => [one.before, one.after])];
}

/** A stored mapping as the interface shows it. */
export function toMapping(row: GroupMappingRow): GroupMapping {
  return {
    idpGroup: row.idp_group,
    platformRole: row.platform_role,
    permissions: row.permissions,
  };
}

/** A mapping as it is stored, with each permission once. */
export function toMappingRow(mapping: GroupMapping): GroupMappingRow {
  return {
    idp_group: mapping.idpGroup,
    platform_role: mapping.platformRole,
    permissions: [...new Set(mapping.permissions)],
  };
}

function textOf({ platformRole, permissions }: GroupMapping): string {
  return JSON.stringify([platformRole, [...new Set(permissions)].toSorted()]);
}
