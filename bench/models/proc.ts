import { readdir, readFile } from 'node:fs/promises';

/** The resident memory of a process; NaN where there is no `/proc`. */
export async function readMemoryBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /VmRSS:\s+(\d+) kB/.exec(status)?.[1];
  return kibibytes === undefined ? Number.NaN : Number(kibibytes) * 1024;
}

/**
 * CPU time of all threads that a process has now, in milliseconds, to the nanosecond where the
 * scheduler keeps it (`/proc/<pid>/task/<tid>/schedstat`); NaN elsewhere.
 */
export async function readCpuMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(threads.map((thread) => readThreadMs(pid, thread)));
  return times.reduce((sum, one) => sum + one, threads.length > 0 ? 0 : Number.NaN);
}

async function readThreadMs(pid: number, thread: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '');
  const [nanoseconds] = text.split(' ');
  return Number(nanoseconds) / 1e6;
}

/** The only child of this process; throws when there is none, or more than one. */
export async function findOnlyChild(): Promise<number> {
  const { pid } = process;
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const [child, ...others] = text.trim().split(' ').filter(Boolean);
  if (child === undefined || others.length > 0) throw new Error(`children: ${text}`);
  return Number(child);
}
