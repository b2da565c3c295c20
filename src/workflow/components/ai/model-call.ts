import { Fault } from '../../../kit/errors.ts';

/**
 * Throws what the failure of a model call means for a node: a deadline is `model_timeout`, and a
 * refusal of this service itself nothing that the flow's author could mend.
 */
export function refuseModelCall(error: unknown): never {
  const fault = Fault.from(error);
  const { code, message, retryAfter, detail } = fault;
  if (code === 'deadline') {
    const reason = 'model_timeout';
    throw new Fault(code, 'the model did not answer in time', { reason, detail, cause: fault });
  }
  if (code === 'unauthenticated' || code === 'forbidden') {
    throw new Fault('unavailable', `the gateway refuses this service: ${message}`, {
      reason: 'gateway_refused',
      cause: fault,
    });
  }
  const reason = fault.reason ?? (code === 'exhausted' ? 'rate_limit_exceeded' : undefined);
  throw new Fault(code, message, {
    detail,
    cause: fault,
    ...(reason !== undefined && { reason }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}
