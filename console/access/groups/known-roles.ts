import type { Mapping } from '../answers.ts';

export interface KnownRole {
  readonly name: string;
  /** What it gives where an administrator gives it: what all mappings of it have in common. */
  readonly permissions: readonly string[];
}

/** The roles of the mappings, the built-in one, and those that somebody holds already. */
export function knownRoles(
  mappings: readonly Mapping[],
  held: readonly string[] = [],
): readonly KnownRole[] {
  const names = new Set(['admin', ...mappings.map(({ platformRole }) => platformRole), ...held]);
  return [...names].map((name) => ({ name, permissions: commonOf(name, mappings) }));
}

function commonOf(name: string, mappings: readonly Mapping[]): readonly string[] {
  if (name === 'admin') return ['*'];
  const [first, ...others] = mappings.filter(({ platformRole }) => platformRole === name);
  return (first?.permissions ?? []).filter((permission) =>
    others.every(({ permissions }) => permissions.includes(permission)),
  );
}
