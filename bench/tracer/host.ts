import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { youngGeneration } from '../harness/measured-child.ts';

/** What is told to the process: to say what it used, or to stop. */
export type HostOrder = 'account' | 'account, and watch the event loop' | 'close';

/** What the process says when it is ready. */
export interface HostHello {
  readonly url: string;
  /** Of the other service in the same process. */
  readonly authUrl: string;
  /** Of its administrator. */
  readonly token: string;
}

export interface Account {
  /** User and system time of all threads since the process began. */
  readonly cpuMicros: number;
  readonly residentBytes: number;
  /** The most that was ever resident. */
  readonly peakBytes: number;
  /** Since it was told to watch the event loop. */
  readonly delayP99Ms: number | undefined;
}

/** Auth and the tracer in a process of their own. The owner disposes of it. */
export class TracerHost implements AsyncDisposable {
  readonly hello: HostHello;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, hello: HostHello) {
    this.#child = child;
    this.hello = hello;
  }

  /** Starts it on PGlite in the folder, or on PostgreSQL where a URL is given. */
  static async start(folder: string, databaseUrl?: string): Promise<TracerHost> {
    const args = databaseUrl ? [folder, databaseUrl] : [folder];
    const profiling = process.env['BENCH_CPU_PROFILES'];
    const child = fork(new URL('host-child.js', import.meta.url), args, {
      execArgv: [
        '--no-warnings',
        youngGeneration,
        ...(profiling ? ['--cpu-prof', `--cpu-prof-dir=${profiling}`] : []),
      ],
    });
    return new TracerHost(child, await nextMessage<HostHello>(child));
  }

  account(): Promise<Account> {
    return this.#ask('account');
  }

  /** As `account`; the next account says how late the event loop was meanwhile. */
  watchDelay(): Promise<Account> {
    return this.#ask('account, and watch the event loop');
  }

  /** Stops it as a signal would; what is open is completed at its next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.send('close' satisfies HostOrder);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 20_000);
    await exited;
    clearTimeout(timer);
  }

  #ask(order: HostOrder): Promise<Account> {
    const answer = nextMessage<Account>(this.#child);
    this.#child.send(order);
    return answer;
  }
}

/** What the child says next is typed by the module that was started. */
function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) =>
      reject(new Error(`the tracer's process ended (${code})`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}
