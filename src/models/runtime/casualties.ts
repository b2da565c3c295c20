import type { Job } from './job.ts';
import type { Lane } from './lanes.ts';

export interface Casualties {
  /** The model whose loading killed the child; undefined when that is not certain. */
  readonly culprit: Lane | undefined;
  readonly lost: readonly Job[];
  /** Had no output yet and are not to blame, so they may run again. */
  readonly unharmed: readonly Job[];
}

/** How a process ends that stumbles in native code; SIGKILL comes from outside. */
const nativeSignals: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGSEGV',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
]);

/** Tells who is to blame for a death of the child, and whom of its jobs it need not concern. */
export function assess(
  jobs: readonly Job[],
  lanes: readonly Lane[],
  signal: NodeJS.Signals | null,
): Casualties {
  const [suspect, ...others] = lanes.filter(({ loaded }) => !loaded);
  const isCertain = suspect && others.length === 0 && nativeSignals.has(signal ?? '');
  if (!isCertain) return { culprit: undefined, lost: jobs, unharmed: [] };
  const isUnharmed = (job: Job) => job.file.key !== suspect.file.key && !job.hasOutput;
  return {
    culprit: suspect,
    lost: jobs.filter((job) => !isUnharmed(job)),
    unharmed: jobs.filter(isUnharmed),
  };
}
