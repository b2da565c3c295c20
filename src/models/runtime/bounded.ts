import { createContext, Script } from 'node:vm';
import { Fault } from '../../kit/errors.ts';
import { processorMs } from '../../kit/processor-time.ts';

const place = createContext({ work: undefined });
const script = new Script('work()');

/** Far beyond the processor time that any chat needs. */
export const templateMsDefault = 20_000;

/** A machine that is busy with something else, or asleep, gives a process little of its time. */
const patience = 16;

/**
 * What `work` answers; throws once it has had so long of the processor. A chat template is a foreign
 * program, and while it runs nobody else is answered. Work that was hardly given any time is begun anew
 * and given longer; Fault `unavailable` when that does not help either.
 */
export function runBounded<T>(work: () => T, limitMs: number, readCpuMs = processorMs): T {
  for (let wallMs = limitMs; wallMs <= patience * limitMs; wallMs *= 2) {
    const startedAt = readCpuMs();
    try {
      return runFor(work, wallMs);
    } catch (error) {
      if (!isOutOfTime(error) || readCpuMs() - startedAt >= limitMs / 2) throw error;
    }
  }
  throw new Fault('unavailable', 'the machine is too busy to run the chat template of the model');
}

function runFor<T>(work: () => T, wallMs: number): T {
  place['work'] = work;
  // The script does nothing but call it.
  return script.runInContext(place, { timeout: wallMs }) as T;
}

/** Whether `runBounded` threw because of the time. */
export function isOutOfTime(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
