import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const stepMs = 25;
const killRounds = 40;

/**
 * A process that leads a group of its own, with all that it started. What left the group is found, on
 * Linux, by the mark that it was started with in its environment.
 */
export interface ProcessGroup {
  readonly leader: number;
  /** An assignment such as `NAME=value` that no other group has. */
  readonly mark: string;
}

/** Asks all of a group to end and kills what is left after the grace; resolves when nothing is. */
export async function endGroup(group: ProcessGroup, graceMs: number): Promise<void> {
  const untilMs = Date.now() + graceMs;
  await signalGroup(group, 'SIGTERM');
  while (Date.now() < untilMs && (await isAlive(group))) await sleep(stepMs);
  // Again and again, as something may be started between the look and the signal.
  for (let round = 0; round < killRounds && (await isAlive(group)); round += 1) {
    await signalGroup(group, 'SIGKILL');
    await sleep(stepMs);
  }
}

async function signalGroup(group: ProcessGroup, signal: NodeJS.Signals): Promise<void> {
  const strays = await straysOf(group);
  for (const pid of [-group.leader, ...strays]) send(pid, signal);
}

async function isAlive(group: ProcessGroup): Promise<boolean> {
  if ((await straysOf(group)).length > 0) return true;
  // A leader that ended and was not yet waited for still answers: its own end is told by its parent.
  return send(-group.leader, 0) && !(await isOnlyZombies(group.leader));
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // It has ended.
    return false;
  }
}

/** Processes of the mark, in whatever group they are; none where the system does not tell. */
async function straysOf({ mark }: ProcessGroup): Promise<number[]> {
  const found = await Promise.all(
    (await processIds()).map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.split('\0').includes(mark) ? [pid] : [];
    }),
  );
  return found.flat();
}

async function isOnlyZombies(leader: number): Promise<boolean> {
  const pids = await processIds();
  if (pids.length === 0) return false;
  const living = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      // The name in brackets may hold anything, also brackets.
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(group) === leader && state !== 'Z';
    }),
  );
  return !living.includes(true);
}

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}
