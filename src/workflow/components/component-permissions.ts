import { Fault } from '../../kit/errors.ts';
import { allows, requirePermission } from '../../kit/permissions.ts';
import type { Plan } from '../flow/plan.ts';
import { componentPermissions, type ComponentPermission } from './component.ts';

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

/**
 * As `requireComponents`, of what starts a flow by itself: it has no token of its own, so that a flow
 * which acts with that of whoever starts it is refused as `invalid` (`caller_token_missing`).
 */
export function requireUnattended(plan: Pick<Plan, 'nodes'>, held?: readonly string[]): void {
  requireComponents(plan, held);
  for (const [id, { component }] of plan.nodes) {
    if (component.callerToken !== 'needed') continue;
    const message = `${id} (${component.name}) acts with the token of whoever executes the workflow: triggers and batches have none`;
    throw new Fault('invalid', message, { reason: 'caller_token_missing' });
  }
}
