/** Permissions that stand for narrower ones. */
const impliedBy: Readonly<Record<string, readonly string[]>> = {
  'agent:read': ['agent:execute'],
  'workflow:create': ['workflow:admin'],
  'workflow:execute': ['workflow:create', 'workflow:admin'],
  'workflow:read': ['workflow:create', 'workflow:admin'],
};

/** Whether held permissions include a needed one: what to offer. The services decide what is done. */
export function holds(held: readonly string[], needed: string): boolean {
  const [area = ''] = needed.split(':');
  const enough = [needed, `${area}:*`, '*', ...(impliedBy[needed] ?? [])];
  return enough.some((permission) => held.includes(permission));
}

/** Why something is off for who holds none of the needed permissions. */
export function reasonOf(needed: string | readonly string[]): string {
  return `This needs the permission ${[needed].flat().join(' or ')}`;
}
