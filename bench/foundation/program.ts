import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readTree, type ProcessState } from './processes.ts';

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment?: NodeJS.ProcessEnv;
}

const readyLimitMs = 120_000;
const stopLimitMs = 15_000;
const readyPattern = /ready in (\d+) ms/;

/** A program that says `ready in N ms` and then runs until its owner disposes of it. */
export class Program implements AsyncDisposable {
  /** From the spawn until the line was read, milliseconds. */
  readonly readyMs: number;
  /** What the program itself counted. */
  readonly ownReadyMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, times: { readyMs: number; ownReadyMs: number }) {
    this.#child = child;
    this.readyMs = times.readyMs;
    this.ownReadyMs = times.ownReadyMs;
  }

  /** Starts the program and waits until it is ready; rejects with what it said if it ends before. */
  static async start({ command, args, folder, environment }: ProgramOptions): Promise<Program> {
    const startedAt = performance.now();
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...outerEnvironment(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ownReadyMs = await waitUntilReady(child);
    return new Program(child, { readyMs: performance.now() - startedAt, ownReadyMs });
  }

  /** Every process that the program consists of, the outermost first. */
  processes(): ProcessState[] {
    return readTree(this.#child.pid ?? 0);
  }

  /** Asks the innermost process to stop, because npm would pass a signal on a second time. */
  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    const inner = this.processes().find(
      ({ command }) => /^\S*node /.test(command) && !isNpm(command),
    );
    process.kill(inner?.pid ?? this.#child.pid ?? 0, 'SIGTERM');
    const timer = setTimeout(() => killTree(this.#child), stopLimitMs);
    await exited;
    clearTimeout(timer);
  }
}

/** True of npm's own process, which is a node too. */
export function isNpm(command: string): boolean {
  return /^npm |\/npm(-cli\.js)? /.test(command);
}

/** This process's environment without what `npm run` added to it, which would mislead a npm inside. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const isNpms = /^(npm_(lifecycle|package|command|config_local_prefix)|INIT_CWD)/;
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !isNpms.test(key)));
}

function killTree({ pid = 0 }: ChildProcess): void {
  for (const each of readTree(pid)) process.kill(each.pid, 'SIGKILL');
}

function waitUntilReady(child: ChildProcess): Promise<number> {
  let said = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => killTree(child), readyLimitMs);
    const onEnd = (cause: unknown) => {
      clearTimeout(timer);
      reject(new Error(`it did not become ready (${String(cause)}): ${said.slice(-2000)}`));
    };
    const onText = (text: string) => {
      said += text;
      const ms = readyPattern.exec(said)?.[1];
      if (ms === undefined) return;
      clearTimeout(timer);
      resolve(Number(ms));
    };
    child.stdout?.setEncoding('utf8').on('data', onText);
    child.stderr?.setEncoding('utf8').on('data', onText);
    child.once('error', onEnd);
    child.once('exit', onEnd);
  });
}
