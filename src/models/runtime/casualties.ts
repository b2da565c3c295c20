import type { Job } from './job.ts';
import type { Lane } from './lanes.ts';
import type { ModelFile } from './model-file.ts';

export interface Casualties {
  /** The model whose loading killed the child, or its first answer; undefined when none stands out. */
  readonly culprit: Lane | undefined;
  /** Whether no other model comes into question. */
  readonly isCertain: boolean;
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

export interface Evidence {
  readonly signal: NodeJS.Signals | null;
  /** Whether a request to the file has ended well: then what kills the child is not the file alone. */
  readonly hasAnswered: (file: ModelFile) => boolean;
}

/** Tells who is to blame for a death of the child, and whom of its jobs it need not concern. */
export function assess(
  jobs: readonly Job[],
  lanes: readonly Lane[],
  { signal, hasAnswered }: Evidence,
): Casualties {
  const loading = lanes.filter(({ loaded }) => !loaded);
  const untried = lanes.filter(
    ({ loaded, active, file }) => loaded && active > 0 && !hasAnswered(file),
  );
  const [culprit, ...others] = loading.length > 0 ? loading : untried;
  if (!culprit || others.length > 0 || !nativeSignals.has(signal ?? '')) {
    return { culprit: undefined, isCertain: false, lost: jobs, unharmed: [] };
  }
  const isUnharmed = (job: Job) => job.file.key !== culprit.file.key && !job.hasOutput;
  return {
    culprit,
    isCertain: !culprit.loaded && untried.length === 0,
    lost: jobs.filter((job) => !isUnharmed(job)),
    unharmed: jobs.filter(isUnharmed),
  };
}
