import { Fault } from '../../kit/errors.ts';
import { allows, peerPermission } from '../../kit/permissions.ts';
import type { Administrator } from '../accounts/administrator.ts';
import type { ApiKeyRow } from '../tables.ts';
import type { NewApiKey } from './new-api-key.ts';

/** Lets a service make keys of subjects below its own, and see and revoke those alone. */
export const delegation = 'auth:delegate';

const administration = 'auth:admin';

/** Whoever may touch only the keys that it made itself; an administrator may touch all. */
export function isDelegate({ identity }: Administrator): boolean {
  return !allows(identity.permissions, administration);
}

/**
 * Throws `forbidden` for a key that speaks for a user, has a name outside the delegate's own, or could
 * do what is for the suite alone or delegate further.
 */
export function requireDelegable(wanted: NewApiKey, { identity }: Administrator): void {
  const { subject } = identity;
  if (identity.kind !== 'service') throw refusal('only a service delegates');
  if (wanted.userId !== undefined) throw refusal('a delegated key speaks for no user');
  if (!wanted.service.startsWith(`${subject}-`)) {
    throw refusal(`the service of a delegated key begins with ${subject}-`);
  }
  const kept = wanted.permissions.find((one) =>
    [peerPermission, delegation, administration].some((guarded) => allows([one], guarded)),
  );
  if (kept !== undefined) throw refusal(`${kept} is not delegated`);
}

/** Whether a delegate made the key, so that it may see and revoke it. */
export function isDelegatedBy({ kind, owner_id }: ApiKeyRow, { identity }: Administrator): boolean {
  return kind === 'service' && owner_id === identity.subject;
}

function refusal(message: string): Fault {
  return new Fault('forbidden', message, { reason: 'not_delegable' });
}
