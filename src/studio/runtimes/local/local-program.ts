import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOwnMemory, type ProcessTable } from '../../../kit/processes/process-table.ts';
import {
  killAll,
  signalAll,
  type ProcessName,
  type ProcessTree,
} from '../../../kit/processes/process-tree.ts';
import { UsageMeter } from '../../../kit/processes/usage.ts';
import type { AgentUse, FailureReason } from '../../agents/agent.ts';
import { runtimeFault } from '../faults.ts';
import type { ProgramCredential, ProgramIdentity, RunningProgram, RuntimeEnd } from '../runtime.ts';
import type { Cgroup } from './cgroups.ts';
import type { OutputFiles, OutputLine } from './output-files.ts';

export interface LocalProgramOptions {
  readonly reference: string;
  readonly name: ProcessName;
  readonly tree: ProcessTree;
  readonly output: OutputFiles;
  readonly cgroup: Cgroup | undefined;
  readonly limits: { readonly memory: number; readonly processes: number };
  /** Of one that can still be told who it is. */
  readonly input?: Writable | undefined;
  /** How its first process ended; absent for one that is not a child of this process. */
  readonly exit?: Promise<RuntimeEnd>;
  /** Removes what was kept of it, once all of it has ended. */
  readonly forget: () => Promise<void>;
}

const outputEveryMs = 100;

/** An agent's process on this machine, with all that came of it. */
export class LocalProgram implements RunningProgram {
  readonly reference: string;
  readonly ended: Promise<RuntimeEnd>;
  readonly #options: LocalProgramOptions;
  readonly #meter = new UsageMeter();
  readonly #listeners: ((line: OutputLine) => void)[] = [];
  #noteExit: ((end: RuntimeEnd) => void) | undefined;
  #reader: NodeJS.Timeout | undefined;
  #cores = 0;
  #reason: FailureReason | undefined;
  #hasEnded = false;
  #isHeapFull = false;
  #isTold = false;

  constructor(options: LocalProgramOptions) {
    this.#options = options;
    this.reference = options.reference;
    const noted = new Promise<RuntimeEnd>((resolve) => (this.#noteExit = resolve));
    this.ended = this.#settle(options.exit ?? noted);
    options.input?.on('error', () => undefined);
  }

  prepare(credential: ProgramCredential): void {
    if (!this.#isTold) this.#options.input?.write(`${JSON.stringify({ credential })}\n`);
  }

  async tell(identity: ProgramIdentity): Promise<void> {
    const { input } = this.#options;
    if (!input || this.#isTold) {
      throw runtimeFault('start_failed', 'the program cannot be told who it is a second time');
    }
    this.#isTold = true;
    input.end(`${JSON.stringify(identity)}\n`);
    try {
      await finished(input, { readable: false });
    } catch (error) {
      throw runtimeFault('exited', 'the program ended before it was told who it is', error);
    }
  }

  async use(): Promise<AgentUse | undefined> {
    if (this.#hasEnded) return undefined;
    const entries = await this.#options.tree.findAll();
    if (entries.length === 0) return undefined;
    const memory = await readOwnMemory(entries.map(({ pid }) => pid));
    return { cpu: this.#cores, memory };
  }

  onLine(listener: (line: OutputLine) => void): void {
    this.#listeners.push(listener);
    if (this.#hasEnded) return;
    this.#reader ??= setInterval(() => this.#tellLines(this.#options.output.read()), outputEveryMs);
    this.#reader.unref();
  }

  async stop(graceMs: number): Promise<void> {
    if (!this.#hasEnded) {
      this.#signalGroup('SIGTERM');
      const stopped = new AbortController();
      const grace = sleep(graceMs, 'over', { signal: stopped.signal }).catch(() => 'over');
      const first = await Promise.race([this.ended, grace]);
      stopped.abort();
      if (first === 'over') await this.#kill();
    }
    await this.ended;
  }

  /** Compares what it takes with its limits; called often, with a fresh table. */
  async check(table: ProcessTable, isForFigures: boolean): Promise<void> {
    const { exit, limits, name, tree } = this.#options;
    if (this.#hasEnded) return;
    if (!exit && table.get(name.pid)?.startedAt !== name.startedAt) {
      this.#noteExit?.({ exitCode: null, signal: null });
    }
    const entries = tree.members(table);
    if (isForFigures) this.#cores = (this.#meter.sample(entries, performance.now()) ?? 0) / 100;
    if (entries.length > limits.processes) return this.#endFor('too_many_processes');
    const memory = await readOwnMemory(entries.map(({ pid }) => pid));
    if (memory > limits.memory) await this.#endFor('out_of_memory');
  }

  /** Lets go of it and leaves it running. */
  release(): void {
    clearInterval(this.#reader);
    this.#options.input?.destroy();
  }

  async #endFor(reason: FailureReason): Promise<void> {
    this.#reason ??= reason;
    await this.#kill();
  }

  /** The group at once, as a fork bomb is faster than any list of its processes; then the rest. */
  async #kill(): Promise<void> {
    this.#signalGroup('SIGKILL');
    const { cgroup, tree } = this.#options;
    const pids = (await cgroup?.pids()) ?? [];
    signalAll(
      pids.map((pid) => ({ pid, startedAt: '' })),
      'SIGKILL',
    );
    await killAll(tree);
  }

  #signalGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#options.name.pid, signal);
    } catch {
      // Nothing of the group is left.
    }
  }

  async #settle(exit: Promise<RuntimeEnd>): Promise<RuntimeEnd> {
    const end = await exit;
    await this.#kill();
    const isOutOfMemory = await this.#hasLackedMemory(end);
    this.#hasEnded = true;
    clearInterval(this.#reader);
    this.#tellLines(this.#options.output.close());
    if (isOutOfMemory || (end.signal === 'SIGABRT' && this.#isHeapFull)) {
      this.#reason ??= 'out_of_memory';
    }
    await this.#options.cgroup?.remove();
    await this.#options.forget();
    return { ...end, ...(this.#reason === undefined ? {} : { reason: this.#reason }) };
  }

  async #hasLackedMemory({ signal }: RuntimeEnd): Promise<boolean> {
    const count = (await this.#options.cgroup?.countOutOfMemory()) ?? 0;
    return signal === 'SIGKILL' && count > 0;
  }

  #tellLines(lines: readonly OutputLine[]): void {
    for (const line of lines) {
      // What V8 says before it ends the process.
      this.#isHeapFull ||= line.text.includes('heap out of memory');
      for (const listener of this.#listeners) listener(line);
    }
  }
}
