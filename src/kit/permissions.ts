import { Fault } from './errors.ts';

/** A permission is `<area>:<action>`, `<area>:*`, or `*` for all. */
export const permissionPattern = '^(\\*|[a-z][a-z0-9-]*:(\\*|[a-z][a-z0-9-]*))$';

/**
 * Held by the suite's own services, and not included in `*`: they read revocations, and have no rate
 * limit among themselves, because whoever they work for was limited at the first edge.
 */
export const peerPermission = 'suite:peer';

/** A permission, and those that have it in them. */
const impliedBy: ReadonlyMap<string, readonly string[]> = new Map([
  ['agent:read', ['agent:execute']],
  ['workflow:create', ['workflow:admin']],
  ['workflow:execute', ['workflow:create', 'workflow:admin']],
  ['workflow:read', ['workflow:create', 'workflow:admin']],
]);

/** True when the held permissions include the needed one, or one that implies it. */
export function allows(held: readonly string[], needed: string): boolean {
  if (held.includes(needed)) return true;
  if (impliedBy.get(needed)?.some((wider) => held.includes(wider))) return true;
  if (needed === peerPermission) return false;
  if (held.includes('*')) return true;
  const area = needed.slice(0, needed.indexOf(':'));
  return held.includes(`${area}:*`);
}

/** True when whoever holds `held` may hand out `wanted`: nobody grants what they do not hold. */
export function mayGrant(held: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((permission) => allows(held, permission));
}

/** Throws `forbidden` unless one of the needed permissions is held. */
export function requirePermission(
  held: readonly string[],
  needed: string | readonly string[],
): void {
  const anyOf = typeof needed === 'string' ? [needed] : needed;
  if (anyOf.some((permission) => allows(held, permission))) return;
  throw new Fault('forbidden', `this needs the permission ${anyOf.join(' or ')}`, {
    reason: 'insufficient_permissions',
    detail: { required: anyOf[0], userPermissions: [...held] },
  });
}
