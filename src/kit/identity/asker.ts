import type { Call } from '../http/call.ts';
import { peerPermission } from '../permissions.ts';
import type { Identity } from './identity.ts';

const header = 'x-ennead-on-behalf-of';

/** The header by which a service of the suite tells another one who asks it. */
export function onBehalfOf(subject: string): Readonly<Record<string, string>> {
  return { [header]: Buffer.from(subject).toString('base64url') };
}

/** The subject who asks: whom a service of the suite names, else the caller. */
export function askerOf(
  identity: Pick<Identity, 'subject' | 'permissions'>,
  headers: Call['headers'],
): string {
  const named = headers[header];
  if (typeof named !== 'string' || !identity.permissions.includes(peerPermission)) {
    return identity.subject;
  }
  return Buffer.from(named, 'base64url').toString() || identity.subject;
}
