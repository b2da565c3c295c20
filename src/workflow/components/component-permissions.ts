import { allows, requirePermission } from '../../kit/permissions.ts';
import type { Plan } from '../flow/plan.ts';

/**
 * What components ask of whoever starts them, because the service acts in its own name where they
 * reach tools and agents.
 */
export const componentPermissions = ['registry:call', 'mesh:communicate', 'agent:execute'] as const;
export type ComponentPermission = (typeof componentPermissions)[number];

/** Of what somebody holds, what components ask for: all that is kept with an execution. */
export function heldForComponents(held: readonly string[] = []): ComponentPermission[] {
  return componentPermissions.filter((permission) => allows(held, permission));
}

/**
 * Throws `forbidden` (`insufficient_permissions`) unless somebody holds what every component of a
 * flow asks for; nodes that are not run, because their outputs are given, ask for nothing.
 */
export function requireComponents(
  { nodes }: Pick<Plan, 'nodes'>,
  held: readonly string[] = [],
  pinned: Readonly<Record<string, unknown>> = {},
): void {
  for (const [id, { component }] of nodes) {
    if (component.permission && !Object.hasOwn(pinned, id)) {
      requirePermission(held, component.permission);
    }
  }
}
