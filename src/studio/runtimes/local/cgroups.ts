import { access, mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Resources } from '../../agents/agent.ts';

const controllers = ['cpu', 'memory', 'pids'] as const;
export type Controller = (typeof controllers)[number];

export interface CgroupLimits extends Resources {
  readonly processes: number;
}

/** A group of Linux control groups that was handed to the studio, with one below it for each agent. */
export class Cgroups {
  readonly #folders: ReadonlyMap<Controller, string>;
  readonly #isUnified: boolean;

  private constructor(folders: ReadonlyMap<Controller, string>, isUnified: boolean) {
    this.#folders = folders;
    this.#isUnified = isUnified;
  }

  /**
   * `group` is a path below the mount, such as `/ennead`; in version 1 it is used in the hierarchy of
   * each controller. What may not be written there is left out; all of it is no failure.
   */
  static async open(group: string, mount = '/sys/fs/cgroup'): Promise<Cgroups> {
    const isUnified = await isThere(join(mount, 'cgroup.controllers'));
    const folders = isUnified
      ? await openUnified(join(mount, group))
      : await openSeparate(mount, group);
    return new Cgroups(folders, isUnified);
  }

  has(controller: Controller): boolean {
    return this.#folders.has(controller);
  }

  /** The group of an agent, made when it is not there; it has no limits yet. */
  async open(name: string): Promise<Cgroup> {
    const folders = new Map<Controller, string>();
    for (const [controller, parent] of this.#folders) {
      const folder = join(parent, name);
      await mkdir(folder, { recursive: true });
      folders.set(controller, folder);
    }
    return new Cgroup(folders, this.#isUnified);
  }
}

/** The control groups of one agent: all that its processes start is in them, whatever they do. */
export class Cgroup {
  readonly #folders: ReadonlyMap<Controller, string>;
  readonly #isUnified: boolean;

  constructor(folders: ReadonlyMap<Controller, string>, isUnified: boolean) {
    this.#folders = folders;
    this.#isUnified = isUnified;
  }

  /** A process that writes its number in each of these is in the group. */
  get entrances(): readonly string[] {
    return [...new Set(this.#folders.values())].map((folder) => join(folder, 'cgroup.procs'));
  }

  /** Rejects when a limit cannot be set, except that on swap, which not every kernel counts. */
  async limit({ cpu, memory, processes }: CgroupLimits): Promise<void> {
    const quota = Math.max(1_000, Math.round(cpu * periodMicros));
    if (this.#isUnified) {
      await this.#write('cpu', 'cpu.max', `${quota} ${periodMicros}`);
      await this.#write('memory', 'memory.max', memory);
      await this.#try('memory.swap.max', 0);
      await this.#try('memory.oom.group', 1);
    } else {
      await this.#write('cpu', 'cpu.cfs_period_us', periodMicros);
      await this.#write('cpu', 'cpu.cfs_quota_us', quota);
      await this.#write('memory', 'memory.limit_in_bytes', memory);
      await this.#try('memory.memsw.limit_in_bytes', memory);
    }
    await this.#write('pids', 'pids.max', processes);
  }

  /** How many processes the kernel ended because there was no memory left for them. */
  async countOutOfMemory(): Promise<number> {
    const folder = this.#folders.get('memory');
    if (folder === undefined) return 0;
    const name = this.#isUnified ? 'memory.events' : 'memory.oom_control';
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  async pids(): Promise<number[]> {
    const lists = await Promise.all(
      this.entrances.map((file) => readFile(file, 'utf8').catch(() => '')),
    );
    return [...new Set(lists.flatMap((text) => text.split('\n').filter(Boolean).map(Number)))];
  }

  /** Once it is empty; one that cannot be removed stays and is used again. */
  async remove(): Promise<void> {
    for (const folder of new Set(this.#folders.values()))
      await rmdir(folder).catch(() => undefined);
  }

  async #write(controller: Controller, file: string, value: string | number): Promise<void> {
    const folder = this.#folders.get(controller);
    if (folder !== undefined) await writeFile(join(folder, file), String(value));
  }

  async #try(file: string, value: number): Promise<void> {
    await this.#write('memory', file, value).catch(() => undefined);
  }
}

const periodMicros = 100_000;

async function openUnified(folder: string): Promise<Map<Controller, string>> {
  const found = new Map<Controller, string>();
  const isMade = await mkdir(folder, { recursive: true }).then(
    () => true,
    () => false,
  );
  if (!isMade) return found;
  const control = join(folder, 'cgroup.subtree_control');
  for (const name of controllers) await writeFile(control, `+${name}`).catch(() => undefined);
  const enabled = (await readFile(control, 'utf8').catch(() => '')).trim().split(/\s+/);
  for (const name of controllers) if (enabled.includes(name)) found.set(name, folder);
  return found;
}

async function openSeparate(mount: string, group: string): Promise<Map<Controller, string>> {
  const found = new Map<Controller, string>();
  const mounted: readonly string[] = await readdir(mount).catch(() => []);
  for (const name of controllers) {
    if (!mounted.includes(name)) continue;
    const folder = join(mount, name, group);
    await mkdir(folder, { recursive: true }).then(
      () => found.set(name, folder),
      () => undefined,
    );
  }
  return found;
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
