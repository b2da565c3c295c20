import { heldForComponents } from '../components/component-permissions.ts';
import type { TriggerFields } from './settings.ts';
import type { Trigger } from './trigger.ts';

/** A trigger as a caller asks for it. */
export interface TriggerRequest extends TriggerFields {
  readonly workflowId: string;
  readonly ownerId: string;
  readonly type: Trigger['type'];
  readonly name?: string | undefined;
  readonly isEnabled: boolean;
  /** Of a webhook; made when absent. */
  readonly secret?: string | undefined;
  /** What the caller may do: nobody listens to events that they may not read. */
  readonly permissions: readonly string[];
}

/** What of a trigger is to be changed. */
export interface TriggerChange extends TriggerFields {
  readonly name?: string | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly secret?: string | undefined;
  /** Who changes it; somebody else than its owner when absent. */
  readonly by?: string;
  readonly permissions: readonly string[];
}

/** What a trigger may reach after a change: others than the owner give nothing that the owner had not. */
export function permissionsAfter(
  before: Trigger,
  { by, permissions }: TriggerChange,
): readonly string[] {
  const held = heldForComponents(permissions);
  return by === before.ownerId ? held : held.filter((one) => before.permissions.includes(one));
}
