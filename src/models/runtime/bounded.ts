import { createContext, Script } from 'node:vm';

const place = createContext({ work: undefined });
const script = new Script('work()');

/**
 * What `work` answers; throws once it has taken so long. A chat template is a foreign program, and
 * while it runs nobody else is answered.
 */
export function runBounded<T>(work: () => T, limitMs: number): T {
  place['work'] = work;
  // The script does nothing but call it.
  return script.runInContext(place, { timeout: limitMs }) as T;
}

/** Far beyond what any chat needs, also on a machine that is busy with something else. */
export const templateMsDefault = 20_000;

/** Whether `runBounded` threw because of the time. */
export function isOutOfTime(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
