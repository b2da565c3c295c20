import { Fault } from '../../kit/errors.ts';
import type { FailureReason } from '../agents/agent.ts';

/** A Fault `unavailable` with a FailureReason; the message is for the user and the operator. */
export function runtimeFault(reason: FailureReason, message: string, cause?: unknown): Fault {
  return new Fault('unavailable', message, { reason, ...(cause === undefined ? {} : { cause }) });
}
