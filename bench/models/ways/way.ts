import { readFile } from 'node:fs/promises';

export interface Completion {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** A way to have a prompt completed greedily. */
export interface Way {
  readonly complete: (
    prompt: { readonly text: string; readonly answerTokens: number },
    onFirst: () => void,
  ) => Promise<Completion>;
  /** Resident memory of the process with the model. */
  readonly memoryBytes: () => Promise<number>;
}

/** What all ways are measured with. */
export const threads = 1;
export const sequences = 8;
export const contextTokens = 2048;

/** The resident memory of a process; NaN where there is no `/proc`. */
export async function readMemoryBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /VmRSS:\s+(\d+) kB/.exec(status)?.[1];
  return kibibytes === undefined ? Number.NaN : Number(kibibytes) * 1024;
}
