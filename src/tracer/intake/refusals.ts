import { Fault } from '../../kit/errors.ts';
import type { Refusal } from './messages.ts';

/** What a sender is told of an export that is not taken. */
export function faultOf({ code, message, reason, status }: Refusal): Fault {
  if (code === 'internal')
    return new Fault(code, 'the export failed', { cause: new Error(message) });
  return new Fault(code, message, { status, ...(reason === undefined ? {} : { reason }) });
}

/** Nobody takes spans at the moment. */
export function stopping(): Fault {
  return new Fault('unavailable', 'no spans are taken now', { retryAfter: 5 });
}

/** What waits to be stored fills the memory for it. */
export function tooManyWait(): Fault {
  const message = 'too many spans wait to be stored; send them again later';
  return new Fault('exhausted', message, { retryAfter: 1 });
}

/** The spans are not in the database. */
export function notStored(error: unknown): Fault {
  const cause = Fault.from(error);
  const message = 'the spans could not be stored; send them again';
  return new Fault('unavailable', message, { cause, retryAfter: 5 });
}
