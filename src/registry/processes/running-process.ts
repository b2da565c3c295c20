import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Program } from './allow-list.ts';
import type { Launcher } from './bounds.ts';
import { formatMemory, formatShare, type ProcessDiagnostics } from './diagnostics.ts';
import type { GivenVariables } from './environment.ts';
import { HeldOutput } from './held-output.ts';
import { OutputTail } from './output-tail.ts';
import {
  readMemory,
  readProcess,
  readProcessTable,
  type ProcessTable,
} from '../../kit/processes/process-table.ts';
import {
  killAll,
  ProcessTree,
  signalAll,
  type ProcessName,
} from '../../kit/processes/process-tree.ts';
import { UsageMeter } from '../../kit/processes/usage.ts';

/** A variable that every server's process is started with, by which strays are found again. */
export const markVariable = 'ENNEAD_REGISTRY_PROCESS';

export interface StartOrder {
  readonly program: Program;
  readonly args: readonly string[];
  /** The whole environment; the mark is added. */
  readonly environment: Readonly<Record<string, string>>;
  /** What of it the connection gave: masked in what the process writes. */
  readonly given: GivenVariables;
  readonly folder: string;
  readonly launcher: Launcher;
}

/** How long a process may take to end by itself. */
export interface EndGrace {
  /** After its input ended; 2,000. */
  readonly inputMs: number;
  /** After SIGTERM; 3,000. */
  readonly termMs: number;
}

const usualGrace: EndGrace = { inputMs: 2000, termMs: 3000 };

/** A process that leads its own group, from its start until it and all its descendants are gone. */
export class RunningProcess {
  readonly name: ProcessName;
  readonly mark: string;
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly output: HeldOutput;
  readonly #tree: ProcessTree;
  readonly #tail: OutputTail;
  readonly #strays: OutputTail;
  readonly #meter = new UsageMeter();
  readonly #launcher: Launcher;
  readonly #startedAtMs = Date.now();
  readonly #exited: Promise<void>;
  #end: Promise<boolean> | undefined;
  #isEnding = false;
  #isSignalled = false;

  private constructor(started: Started, order: StartOrder, name: ProcessName) {
    this.child = started.child;
    this.output = started.output;
    this.mark = started.mark;
    this.name = name;
    this.#exited = started.exited;
    this.#launcher = order.launcher;
    this.#tree = new ProcessTree(name, started.mark);
    this.#tail = started.tail;
    this.#strays = new OutputTail(order.given);
  }

  /** Throws Fault `unavailable` (`spawn_failed`) when the system does not start it. */
  static async start(order: StartOrder): Promise<RunningProcess> {
    const started = launch(order);
    await untilSpawned(started.child);
    const pid = started.child.pid ?? 0;
    lowerPriority(pid, order.launcher.bounds.limits.niceness ?? 0);
    // One that has ended already has no entry; its group may still have members.
    const entry = await readProcess(pid);
    return new RunningProcess(started, order, entry ?? { pid, startedAt: '' });
  }

  /** The end of its standard error, masked. */
  get errorText(): string {
    return this.#tail.text();
  }

  /** The end of what of its standard output was no MCP, masked. */
  get strayText(): string {
    return this.#strays.text();
  }

  /** A line of its standard output that was no MCP. */
  noteStray(line: Buffer): void {
    this.#strays.add(Buffer.concat([line, newline]));
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** How it ended, in words; undefined while it runs, and when it had to be ended. */
  get exitText(): string | undefined {
    if (this.#isSignalled) return undefined;
    const { exitCode, signalCode } = this.child;
    if (signalCode !== null) return `was ended by ${signalCode}`;
    return exitCode === null ? undefined : `ended with exit code ${exitCode}`;
  }

  /** Of the whole tree now; what is seen of the tree is remembered. */
  async measure(table: ProcessTable): Promise<{ memoryBytes: number; processes: number }> {
    const pids = this.#tree.members(table).map(({ pid }) => pid);
    return { memoryBytes: await readMemory(pids), processes: pids.length };
  }

  /** Measured now. */
  async diagnostics(): Promise<ProcessDiagnostics> {
    if (!this.#meter.hasSample) {
      this.#meter.sample(this.#tree.members(await readProcessTable()), performance.now());
      await delay(firstSampleMs);
    }
    const members = this.#tree.members(await readProcessTable());
    const cpuPercent = this.#meter.sample(members, performance.now()) ?? 0;
    const memoryBytes = await readMemory(members.map(({ pid }) => pid));
    const stderr = this.errorText;
    const stdout = this.strayText;
    return {
      processRunning: !this.hasExited,
      pid: this.name.pid,
      processes: members.length,
      memoryUsage: formatMemory(memoryBytes),
      memoryBytes,
      cpuUsage: formatShare(cpuPercent),
      cpuPercent: Math.round(cpuPercent * 10) / 10,
      startedAt: new Date(this.#startedAtMs).toISOString(),
      ...this.#launcher.bounds,
      ...(stderr && { stderr }),
      ...(stdout && { stdout }),
    };
  }

  /**
   * Ends its input, then SIGTERM, then SIGKILL, to all that belong to it. False when something would
   * not go: it hangs in the kernel.
   */
  async end(grace: EndGrace = usualGrace): Promise<boolean> {
    this.#end ??= this.#endGently(grace);
    return this.#end;
  }

  /** SIGKILL without grace, also in the middle of a gentle end. */
  async kill(): Promise<boolean> {
    // Seen first, as what is left of a tree whose root has gone may be nobody's child.
    const entries = await this.#tree.findAll();
    if (this.#isEnding) signalAll(entries, 'SIGKILL');
    this.#end ??= this.#finish();
    return this.#end;
  }

  async #endGently({ inputMs, termMs }: EndGrace): Promise<boolean> {
    this.#isEnding = true;
    await this.#tree.findAll();
    this.child.stdin.end();
    await within(this.#exited, inputMs);
    const left = await this.#tree.findAll();
    this.#signalGroup('SIGTERM');
    signalAll(left, 'SIGTERM');
    if (left.length > 0) await this.#untilGone(termMs);
    return this.#finish();
  }

  /** At once and without a gap, but only while the group's number is certainly its own. */
  #signalGroup(signal: NodeJS.Signals): void {
    if (this.hasExited) return;
    this.#isSignalled = true;
    signalAll([{ ...this.name, pid: -this.name.pid }], signal);
  }

  async #untilGone(limitMs: number): Promise<void> {
    const untilMs = performance.now() + limitMs;
    for (let pauseMs = 10; performance.now() < untilMs; pauseMs = Math.min(pauseMs * 2, 200)) {
      await delay(pauseMs);
      if ((await this.#tree.findAll()).length === 0) return;
    }
  }

  async #finish(): Promise<boolean> {
    this.#isEnding = true;
    this.#signalGroup('SIGKILL');
    const isGone = await killAll(this.#tree);
    if (isGone) await within(this.#exited, exitEventMs);
    // A descendant that could not be found would hold the pipes, and they this process's memory.
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) stream.destroy();
    return isGone;
  }
}

const newline = Buffer.from('\n');
const firstSampleMs = 100;
const exitEventMs = 1000;

interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly output: HeldOutput;
  readonly mark: string;
  readonly tail: OutputTail;
  readonly exited: Promise<void>;
}

function launch({ program, args, environment, given, folder, launcher }: StartOrder): Started {
  const id = newId('prc');
  const [file = program.path, ...rest] = [...launcher.prefix, program.path, ...args];
  const tail = new OutputTail(given);
  try {
    const child = spawn(file, rest, {
      cwd: folder,
      env: { ...environment, [markVariable]: id },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      detached: true,
      windowsHide: true,
    });
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    const output = new HeldOutput(child.stdout);
    child.stderr.on('data', (chunk: Buffer) => tail.add(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    return { child, output, mark: `${markVariable}=${id}`, tail, exited };
  } catch (error) {
    throw spawnFailed(error);
  }
}

async function untilSpawned(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', () => resolve());
    child.once('error', (error) => reject(spawnFailed(error)));
  });
  // A failed signal is told as an error too, and an error that nobody hears ends this process.
  child.on('error', () => {});
}

function spawnFailed(cause: unknown): Fault {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new Fault('unavailable', `the system did not start the command (${code})`, {
    reason: 'spawn_failed',
    cause,
  });
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, niceness);
  } catch {
    // It has ended already.
  }
}

async function delay(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

async function within(done: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([done, limit]);
  clearTimeout(timer);
}
