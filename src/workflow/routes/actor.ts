import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { Actor } from '../definitions/workflow.ts';
import { administration } from '../schemas/access.ts';

/** Whoever calls, as the domain knows them. */
export function actorOf({ subject, permissions }: Identity): Actor {
  return { id: subject, isAdmin: allows(permissions, administration), permissions };
}
