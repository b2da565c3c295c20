import type { Call } from '../../kit/http/call.ts';
import { askerOf } from '../../kit/identity/asker.ts';
import type { Caller } from './inference.ts';

/** What a call tells of who asks. */
export type Asker = Pick<Call, 'identity' | 'headers' | 'signal'>;

/** The Caller of a call: who came through the gateway is the one whom it names. */
export function callerOf({ identity, headers, signal }: Asker): Caller {
  return { subject: askerOf(identity, headers), signal };
}
