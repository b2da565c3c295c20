import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { AuditEvent, Origin } from '../audit/audit-event.ts';

/** Who administers, and from where. */
export interface Administrator {
  readonly identity: Identity;
  readonly origin: Origin;
}

/** Throws `forbidden` unless the administrator holds all of it: nobody hands out what they lack. */
export function requireHeld({ identity }: Administrator, permissions: readonly string[]): void {
  const missing = permissions.find((permission) => !allows(identity.permissions, permission));
  if (missing === undefined) return;
  throw new Fault('forbidden', `only who holds ${missing} may do this`, {
    reason: 'insufficient_permissions',
    detail: { required: missing, userPermissions: [...identity.permissions] },
  });
}

/** What an administrator did, for the audit log. */
export function administrationEvent(
  { identity, origin }: Administrator,
  eventType: AuditEvent['eventType'],
  facts: AuditEvent['facts'],
): AuditEvent {
  const { subject: userId, clientId } = identity;
  return { eventType, userId, clientId, origin, provider: 'token', facts: facts ?? {} };
}
