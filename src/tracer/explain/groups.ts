import type { SpanHead } from '../trace/span.ts';

/** The members by their keys, groups and members in the order in which they came. */
export function groupBy<T>(
  members: Iterable<T>,
  keyOf: (member: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const member of members) {
    const key = keyOf(member);
    const group = groups.get(key);
    if (group) group.push(member);
    else groups.set(key, [member]);
  }
  return groups;
}

/** The same for all spans of an operation. */
export function operationKey({
  service,
  name,
  kind,
}: Pick<SpanHead, 'service' | 'name' | 'kind'>): string {
  return `${service}\0${name}\0${kind}`;
}
