import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../../kit/config.ts';
import type { Log } from '../../../kit/log.ts';
import { readProcess, readProcessTable } from '../../../kit/processes/process-table.ts';
import { killAll, killMarked, ProcessTree } from '../../../kit/processes/process-tree.ts';
import { runtimeFault } from '../faults.ts';
import type { Runtime, RuntimeEnd, RuntimeLimit, RuntimeSpec } from '../runtime.ts';
import { Cgroups, type Cgroup } from './cgroups.ts';
import { harmlessVariables, launch } from './launch.ts';
import { LocalProgram } from './local-program.ts';
import { OutputFiles } from './output-files.ts';
import { limitsOf } from './limits.ts';
import { formatReference, parseReference } from './reference.ts';

export interface LocalOptions {
  /** What runs the agent's program, with options for Node.js before it. */
  readonly command: (nodeOptions: readonly string[]) => readonly string[];
  /** Where what programs print is kept; other runtimes of other suites have others. */
  readonly folder: string;
  readonly log: Log;
  /** Of this process; little of it goes on to programs. */
  readonly environment: Environment;
  readonly processesMax: number;
  readonly filesMax: number;
  /** A path of control groups that was handed to the studio; undefined uses none. */
  readonly cgroup?: string | undefined;
  readonly cgroupMount?: string;
}

/** Opens the runtime of this machine. */
export async function openLocalRuntime(options: LocalOptions): Promise<LocalRuntime> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const { cgroup, cgroupMount } = options;
  const cgroups = cgroup === undefined ? undefined : await Cgroups.open(cgroup, cgroupMount);
  return new LocalRuntime(options, cgroups);
}

const checkEveryMs = 250;
/** Each how many checks the figures are taken, and what left its group and its parents is looked for. */
const checksPerFigure = 4;
const checksPerSearch = 8;

/** Agents as child processes of the studio that outlive it and are found again. */
export class LocalRuntime implements Runtime {
  readonly name = 'local';
  readonly #options: LocalOptions;
  readonly #cgroups: Cgroups | undefined;
  readonly #programs = new Map<string, { program: LocalProgram; tree: ProcessTree }>();
  #checker: NodeJS.Timeout | undefined;
  #isChecking = false;
  #checks = 0;

  constructor(options: LocalOptions, cgroups: Cgroups | undefined) {
    this.#options = options;
    this.#cgroups = cgroups;
  }

  missing(): Promise<string | undefined> {
    const isPosix = process.platform !== 'win32';
    return Promise.resolve(isPosix ? undefined : 'the local runtime needs Linux, macOS or BSD');
  }

  limits(): readonly RuntimeLimit[] {
    return limitsOf(this.#options, this.#cgroups);
  }

  async start(spec: RuntimeSpec): Promise<LocalProgram> {
    const missing = await this.missing();
    if (missing !== undefined) throw runtimeFault('runtime_unavailable', missing);
    const folder = await this.#openFolder(spec.agentId);
    const output = new OutputFiles(folder);
    const cgroup = await this.#openCgroup(spec);
    const outputs = output.openTargets();
    const child = await launch({
      command: this.#options.command(nodeOptions(spec)),
      folder,
      environment: { ...harmlessVariables(this.#options.environment), ...markOf(spec).variables },
      entrances: cgroup?.entrances ?? [],
      filesMax: this.#options.filesMax,
      outputs,
    }).finally(() => output.closeTargets(outputs));
    const exit = new Promise<RuntimeEnd>((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    child.unref();
    const pid = child.pid ?? 0;
    const startedAt = (await readProcess(pid))?.startedAt ?? '';
    const input = child.stdin ?? undefined;
    const program = await this.#keep({ spec, pid, startedAt, output, cgroup, exit, input });
    // One that ends at once says so by `ended`.
    if (spec.identity) await program.tell(spec.identity).catch(() => undefined);
    return program;
  }

  async adopt(reference: string, spec: RuntimeSpec): Promise<LocalProgram | undefined> {
    const name = parseReference(reference);
    if (!name) return undefined;
    const isSameBoot = name.boot === (await readBoot());
    const running = isSameBoot ? await readProcess(name.pid) : undefined;
    if (running?.startedAt !== name.startedAt) {
      if (isSameBoot) await this.#endRest(name, spec);
      return undefined;
    }
    const folder = this.#folderOf(spec.agentId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const cgroup = await this.#cgroups?.open(spec.agentId);
    return this.#keep({ spec, ...name, output: new OutputFiles(folder), cgroup });
  }

  /** Lets go of the programs, which run on. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checker);
    for (const { program } of this.#programs.values()) program.release();
    this.#programs.clear();
  }

  async #keep({ spec, pid, startedAt, output, cgroup, exit, input }: Kept): Promise<LocalProgram> {
    const { agentId, resources } = spec;
    const tree = new ProcessTree({ pid, startedAt }, markOf(spec).mark);
    const program = new LocalProgram({
      reference: formatReference({ pid, startedAt, boot: await readBoot() }),
      name: { pid, startedAt },
      tree,
      output,
      cgroup,
      limits: { memory: resources.memory, processes: this.#options.processesMax },
      input,
      ...(exit ? { exit } : {}),
      forget: async () => {
        this.#programs.delete(agentId);
        if (this.#programs.size === 0) this.#endChecks();
        await rm(this.#folderOf(agentId), { recursive: true, force: true });
      },
    });
    this.#programs.set(agentId, { program, tree });
    this.#checker ??= setInterval(() => void this.#check(), checkEveryMs).unref();
    return program;
  }

  #endChecks(): void {
    clearInterval(this.#checker);
    this.#checker = undefined;
  }

  async #check(): Promise<void> {
    // A machine that is slow to answer is not asked a second time meanwhile.
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      this.#checks += 1;
      const programs = [...this.#programs.values()];
      if (this.#checks % checksPerSearch === 0) {
        for (const { tree } of programs) await tree.findAll();
      }
      const table = await readProcessTable();
      const isForFigures = this.#checks % checksPerFigure === 0;
      await Promise.all(programs.map(({ program }) => program.check(table, isForFigures)));
    } catch (error) {
      this.#options.log.error({ err: error }, 'looking after the agents of this machine failed');
    } finally {
      this.#isChecking = false;
    }
  }

  /** A folder that is there already is of a start that the studio did not live to note. */
  async #openFolder(agentId: string): Promise<string> {
    const folder = this.#folderOf(agentId);
    const isNew = await mkdir(folder, { mode: 0o700 }).then(
      () => true,
      () => false,
    );
    if (isNew) return folder;
    await killMarked(`${variable}=${agentId}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async #openCgroup({ agentId, resources }: RuntimeSpec): Promise<Cgroup | undefined> {
    try {
      const cgroup = await this.#cgroups?.open(agentId);
      await cgroup?.limit({ ...resources, processes: this.#options.processesMax });
      return cgroup;
    } catch (error) {
      throw runtimeFault('start_failed', "the agent's control group could not be set up", error);
    }
  }

  async #endRest(name: { pid: number; startedAt: string }, spec: RuntimeSpec): Promise<void> {
    const isEnded = await killAll(new ProcessTree(name, markOf(spec).mark));
    const { agentId } = spec;
    if (!isEnded) this.#options.log.warn({ agentId }, 'processes of an agent could not be ended');
    await rm(this.#folderOf(agentId), { recursive: true, force: true });
  }

  #folderOf(agentId: string): string {
    // Only what can be no path.
    return join(this.#options.folder, agentId.replaceAll(/[^A-Za-z0-9_-]/g, '_'));
  }
}

interface Kept {
  readonly spec: RuntimeSpec;
  readonly pid: number;
  readonly startedAt: string;
  readonly output: OutputFiles;
  readonly cgroup: Cgroup | undefined;
  readonly exit?: Promise<RuntimeEnd>;
  readonly input?: NonNullable<ConstructorParameters<typeof LocalProgram>[0]['input']> | undefined;
}

const variable = 'ENNEAD_AGENT_ID';

function markOf({ agentId }: RuntimeSpec) {
  return { mark: `${variable}=${agentId}`, variables: { [variable]: agentId } };
}

const heapShare = 0.75;
const heapMegabytesMin = 32;

/** The heap is bounded below the limit, so that the program ends with a sentence where it can. */
function nodeOptions({ resources }: RuntimeSpec): string[] {
  const megabytes = Math.floor((resources.memory * heapShare) / 2 ** 20);
  return [`--max-old-space-size=${Math.max(heapMegabytesMin, megabytes)}`];
}

async function readBoot(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}
