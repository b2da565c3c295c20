import type { Caller } from '../inference.ts';

const deadlineDefaultMs = 600_000;

/** Ends with the caller or with the deadline of its request, whichever is first. */
export function signalOf({ signal }: Caller, deadlineMs = deadlineDefaultMs): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
}
