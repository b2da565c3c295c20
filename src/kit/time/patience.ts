import { setTimeout as sleep } from 'node:timers/promises';
import { codes, Fault } from '../errors.ts';

const pauseMsMin = 100;
const pauseMsMax = 2_000;

/** Repeats a call while its failure may pass; a refusal comes back, an abort is thrown. */
export async function patiently<T>(
  call: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | Fault> {
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      const fault = Fault.from(error);
      if (!mayPass(fault)) return fault;
      signal.throwIfAborted();
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

/** What the other side is not to be blamed for lasts; an answer cut short may be whole the next time. */
function mayPass({ code }: Fault): boolean {
  return codes[code].retryable || code === 'internal' || code === 'cancelled';
}
