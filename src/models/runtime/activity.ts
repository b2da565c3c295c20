import { readFile } from 'node:fs/promises';

/** What a process has done since its start. */
export interface Activity {
  /** CPU time of all its threads, in whole hundredths of a second. */
  readonly cpuMs: number;
  /** Pages that it waited for until they were read from a disk. */
  readonly pagesRead: number;
}

/** As Linux counts it (`proc_pid_stat(5)`); undefined for a process that has ended, and elsewhere. */
export async function readActivity(pid: number): Promise<Activity | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The name of the program stands in brackets, and may hold blanks and brackets of its own.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (!fields) return undefined;
  const [pagesRead = Number.NaN] = fields.slice(majfltAt).map(Number);
  const [userTicks = Number.NaN, systemTicks = Number.NaN] = fields.slice(utimeAt).map(Number);
  return { cpuMs: (userTicks + systemTicks) * tickMs, pagesRead };
}

/** Places after the name, which is the second field: `majflt` is the 12th, `utime` the 14th. */
const majfltAt = 9;
const utimeAt = 11;

/** The kernel tells times to programs in hundredths of a second (USER_HZ), whatever its own clock. */
const tickMs = 10;
