import { Fault } from '../../kit/errors.ts';
import type { FailedMessage } from './protocol.ts';

/** What a request is answered whose process died, or that came while none may be started. */
export function crashedFault(backoffMs: number): Fault {
  const retryAfter = Math.max(1, Math.ceil(backoffMs / 1000));
  return new Fault('unavailable', 'the local model process died', { retryAfter });
}

/** What a request is answered that came too late. */
export function closingFault(): Fault {
  return new Fault('unavailable', 'the local runtime is shutting down');
}

/** A failure of the child as the parent throws it. */
export function toFault({ code, message, reason, detail, cause }: FailedMessage): Fault {
  return new Fault(code, message, { cause, detail, ...(reason && { reason }) });
}
