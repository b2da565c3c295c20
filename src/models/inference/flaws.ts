import { Fault } from '../../kit/errors.ts';

const flaws: ReadonlySet<string | undefined> = new Set(['bad_model_file', 'insufficient_memory']);

/** Whether the Fault is the model's own, so that no request to it can succeed on this machine. */
export function isFlaw(error: unknown): error is Fault {
  return error instanceof Fault && flaws.has(error.reason);
}
