import { chmod, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../kit/log.ts';
import { readProcess } from '../../kit/processes/process-table.ts';
import { killAll, ProcessTree, type ProcessName } from '../../kit/processes/process-tree.ts';

/** A process that runs, written down so that a later start can end it if nobody else did. */
interface Note {
  readonly process: ProcessName;
  readonly mark: string;
  /** The registry that started it. */
  readonly owner: ProcessName;
  /** Of the system's start, where it has a name: numbers of processes mean nothing after another. */
  readonly boot: string;
}

/** The working folders of servers' processes, private to this user, and what is known to run. */
export class ProcessFolders {
  readonly #root: string;
  readonly #log: Log;

  constructor(root: string, log: Log) {
    this.#root = root;
    this.#log = log;
  }

  /** Makes and gives the folder that the connection's process works in; it stays between starts. */
  async open(connectionId: string): Promise<string> {
    const folder = join(this.#root, nameOf(connectionId), 'work');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A folder of an earlier version or a generous umask is made private all the same.
    await chmod(folder, 0o700);
    return folder;
  }

  async remove(connectionId: string): Promise<void> {
    await rm(join(this.#root, nameOf(connectionId)), { recursive: true, force: true });
  }

  async note(connectionId: string, process: ProcessName, mark: string): Promise<void> {
    const note: Note = { process, mark, owner: await ownName(), boot: await readBoot() };
    await writeFile(this.#noteFile(connectionId), JSON.stringify(note), { mode: 0o600 });
  }

  async removeNote(connectionId: string): Promise<void> {
    await rm(this.#noteFile(connectionId), { force: true });
  }

  /** Kills what an earlier registry that is no more has left running; answers how many trees. */
  async endOrphans(): Promise<number> {
    const names = await readdir(this.#root).catch(() => []);
    let ended = 0;
    for (const name of names) {
      const file = join(this.#root, name, noteName);
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) continue;
      const note = parseNote(text);
      if (note && (await isRunning(note.owner))) continue;
      if (note && (await this.#endOrphan(note))) ended += 1;
      await rm(file, { force: true });
    }
    return ended;
  }

  async #endOrphan(note: Note): Promise<boolean> {
    if (note.boot !== (await readBoot())) return false;
    const tree = new ProcessTree(note.process, note.mark);
    const found = await tree.findAll();
    if (found.length === 0) return false;
    this.#log.warn({ pids: found.map(({ pid }) => pid) }, 'ending processes of an earlier start');
    return killAll(tree);
  }

  #noteFile(connectionId: string): string {
    return join(this.#root, nameOf(connectionId), noteName);
  }
}

const noteName = 'process.json';

/** Only what can be no path. */
function nameOf(connectionId: string): string {
  return connectionId.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

async function ownName(): Promise<ProcessName> {
  const { pid } = process;
  return { pid, startedAt: (await readProcess(pid))?.startedAt ?? '' };
}

async function isRunning({ pid, startedAt }: ProcessName): Promise<boolean> {
  return (await readProcess(pid))?.startedAt === startedAt;
}

async function readBoot(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}

function parseNote(text: string): Note | undefined {
  try {
    const { process: name, mark, owner, boot }: Partial<Note> = JSON.parse(text);
    const isWhole = isName(name) && isName(owner) && typeof mark === 'string' && mark !== '';
    return isWhole && typeof boot === 'string' ? { process: name, mark, owner, boot } : undefined;
  } catch {
    // Cut off by the same end that left the process: what it named cannot be known.
    return undefined;
  }
}

function isName(name: ProcessName | undefined): name is ProcessName {
  return Number.isSafeInteger(name?.pid) && typeof name?.startedAt === 'string';
}
