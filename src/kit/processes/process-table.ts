import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process of this host as it was when the table was read. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it began, in the system's own words: with the pid it names the process for good. */
  readonly startedAt: string;
  /** Processor time used so far, of all its threads. */
  readonly cpuMs: number;
}

export type ProcessTable = ReadonlyMap<number, ProcessEntry>;

/** All processes that have not ended; one that ended but was not collected counts as ended. */
export async function readProcessTable(): Promise<ProcessTable> {
  const names = await readdir('/proc').catch(() => undefined);
  const pids = names?.filter((name) => /^\d+$/.test(name)) ?? [];
  const entries = pids.length > 0 ? await Promise.all(pids.map(readEntry)) : await askPs();
  return new Map(entries.flatMap((entry) => (entry ? [[entry.pid, entry]] : [])));
}

/** One process; undefined when there is none. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  const entry = await readEntry(String(pid));
  if (entry) return entry;
  // Without /proc there is only the whole table.
  return (await hasProc()) ? undefined : (await readProcessTable()).get(pid);
}

/** Memory in use now, in bytes, summed; those that ended meanwhile count nothing. */
export async function readMemory(pids: readonly number[]): Promise<number> {
  if (!(await hasProc())) return askPsForMemory(pids);
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Memory that the processes have for themselves, in bytes, summed: without the pages of programs and
 * files, which many share and the system takes back. Where the system does not tell these apart it is
 * all that is resident.
 */
export async function readOwnMemory(pids: readonly number[]): Promise<number> {
  if (!(await hasProc())) return askPsForMemory(pids);
  const sizes = await Promise.all(pids.map(readOwnSize));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function readOwnSize(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const field = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  };
  const anonymous = field('RssAnon');
  if (anonymous === undefined) return field('VmRSS') ?? 0;
  return anonymous + (field('RssShmem') ?? 0);
}

/** Whether the process began with this variable; false also when one may not look. */
export async function hasVariable(pid: number, assignment: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(assignment);
}

// USER_HZ, which Linux fixes at 100 for every program whatever the kernel itself counts in.
const msPerTick = 10;

async function hasProc(): Promise<boolean> {
  return (await readFile('/proc/self/stat').catch(() => undefined)) !== undefined;
}

async function readEntry(pid: string): Promise<ProcessEntry | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name stands in parentheses and may itself hold blanks and parentheses.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (!fields || isEnded(fields[0])) return undefined;
  const number = (at: number) => Number(fields[at]);
  return {
    pid: Number(pid),
    parent: number(1),
    group: number(2),
    session: number(3),
    startedAt: fields[19] ?? '',
    cpuMs: (number(11) + number(12)) * msPerTick,
  };
}

function isEnded(state: string | undefined): boolean {
  return state === 'Z' || state === 'X' || state === undefined;
}

const run = promisify(execFile);

async function askPs(): Promise<ProcessEntry[]> {
  const columns = 'pid=,ppid=,pgid=,stat=,time=,lstart=';
  const { stdout } = await run('ps', ['-A', '-o', columns]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line) => readPsLine(line.trim().split(/\s+/)));
}

/** A line of `ps` as a process; nothing for a line of another form or one that has ended. */
export function readPsLine(fields: readonly string[]): ProcessEntry[] {
  const [pid, parent, group, state, time, ...started] = fields;
  if (started.length === 0 || state?.startsWith('Z')) return [];
  return [
    {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      startedAt: started.join(' '),
      cpuMs: readPsTime(time ?? ''),
    },
  ];
}

/** `[[days-]hours:]minutes:seconds[.hundredths]`. */
function readPsTime(text: string): number {
  const [days, clock] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (clock ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

async function askPsForMemory(pids: readonly number[]): Promise<number> {
  const list = ['-o', 'rss=', '-p', pids.join(',')];
  const { stdout } = await run('ps', list).catch(() => ({ stdout: '' }));
  return stdout.split('\n').reduce((sum, line) => sum + Number(line) * 1024, 0);
}
