import {
  hasVariable,
  readProcessTable,
  type ProcessEntry,
  type ProcessTable,
} from './process-table.ts';

/** Names a process for good: a number alone is given to another one later. */
export interface ProcessName {
  readonly pid: number;
  readonly startedAt: string;
}

/**
 * A process that leads a group and a session of its own, and all that came of it: also what left the
 * group, and what nobody is the parent of any more as long as it was seen before or kept the mark
 * that it was started with in its environment.
 */
export class ProcessTree {
  readonly #root: ProcessName;
  readonly #mark: string;
  readonly #known = new Map<number, string>();

  /** `mark` is an assignment such as `NAME=value` that no other tree has. */
  constructor(root: ProcessName, mark: string) {
    this.#root = root;
    this.#mark = mark;
    this.#remember(root);
  }

  /** Those of the table that belong to it, by kinship. */
  members(table: ProcessTable): ProcessEntry[] {
    const found = new Set<number>();
    for (const entry of table.values()) if (this.#isOwn(entry, table)) found.add(entry.pid);
    this.#addDescendants(found, table);
    return this.#collect(found, table);
  }

  /** The same from a table read now, and with those that only the mark gives away. */
  async findAll(): Promise<ProcessEntry[]> {
    const table = await readProcessTable();
    const related = new Set(this.members(table).map(({ pid }) => pid));
    const others = [...table.values()].filter(
      (entry) => !related.has(entry.pid) && mayBeOurs(entry) && this.#isYounger(entry),
    );
    const marked = await Promise.all(
      others.map(async ({ pid }) => ((await hasVariable(pid, this.#mark)) ? [pid] : [])),
    );
    const found = new Set([...related, ...marked.flat()]);
    this.#addDescendants(found, table);
    return this.#collect(found, table);
  }

  #isOwn({ pid, group, session, startedAt }: ProcessEntry, table: ProcessTable): boolean {
    if (this.#known.get(pid) === startedAt) return true;
    const holder = table.get(this.#root.pid);
    // The number of a group that has died out may be another group's by now.
    const isOthers = holder !== undefined && holder.startedAt !== this.#root.startedAt;
    return !isOthers && (group === this.#root.pid || session === this.#root.pid);
  }

  /** Spares looking into all that ran before; where times are no numbers nothing is spared. */
  #isYounger({ startedAt }: ProcessEntry): boolean {
    return !(Number(startedAt) < Number(this.#root.startedAt));
  }

  #addDescendants(found: Set<number>, table: ProcessTable): void {
    let size: number;
    do {
      size = found.size;
      for (const { pid, parent } of table.values()) if (found.has(parent)) found.add(pid);
    } while (found.size > size);
  }

  #collect(found: ReadonlySet<number>, table: ProcessTable): ProcessEntry[] {
    const entries = [...table.values()].filter((entry) => found.has(entry.pid) && mayBeOurs(entry));
    for (const entry of entries) this.#remember(entry);
    return entries;
  }

  #remember({ pid, startedAt }: ProcessName): void {
    this.#known.set(pid, startedAt);
    // A server that starts a process a second must not fill memory; the oldest have ended long ago.
    if (this.#known.size <= knownMax) return;
    const oldest = [...this.#known.keys()].find((known) => known !== this.#root.pid);
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

const knownMax = 1000;

/** Sends a signal to each; those that are gone already are passed over. */
export function signalAll(entries: readonly ProcessName[], signal: NodeJS.Signals): void {
  for (const { pid } of entries) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended between the look and the signal, or became another user's.
    }
  }
}

/** Kills until nothing is left, as something may be started between the look and the signal. */
export async function killAll(tree: ProcessTree): Promise<boolean> {
  for (let round = 0; round < killRounds; round += 1) {
    const entries = await tree.findAll();
    if (entries.length === 0) return true;
    signalAll(entries, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 * 2 ** round, 250)));
  }
  return false;
}

/** Asks all of a tree to end and kills what is left after the grace; resolves when nothing is. */
export async function endAll(tree: ProcessTree, graceMs: number): Promise<void> {
  const untilMs = Date.now() + graceMs;
  let entries = await tree.findAll();
  signalAll(entries, 'SIGTERM');
  while (entries.length > 0 && Date.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    entries = await tree.findAll();
  }
  if (entries.length > 0) await killAll(tree);
}

/**
 * Kills what runs with this assignment in its environment, where nothing else is known of it; answers
 * whether nothing of it is left.
 */
export async function killMarked(mark: string): Promise<boolean> {
  for (let round = 0; round < killRounds; round += 1) {
    const entries = [...(await readProcessTable()).values()].filter(mayBeOurs);
    const isMarked = await Promise.all(entries.map(({ pid }) => hasVariable(pid, mark)));
    const found = entries.filter((_entry, at) => isMarked[at]);
    if (found.length === 0) return true;
    signalAll(found, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 * 2 ** round, 250)));
  }
  return false;
}

const killRounds = 12;
const lookMs = 25;

function mayBeOurs({ pid }: ProcessEntry): boolean {
  return pid > 1 && pid !== process.pid;
}
