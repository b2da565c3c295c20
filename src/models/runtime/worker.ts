import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ChildSettings, ToChild, ToParent } from './protocol.ts';

export interface WorkerListener {
  received(message: ToParent): void;
  /** Once, when the process has ended without `stop` having been called. */
  died(reason: string, signal: NodeJS.Signals | null): void;
}

/** One child process, from its start to its end. */
export class Worker {
  readonly #child: ChildProcess;
  /** What goes out with the next turn of the event loop. */
  readonly #outgoing: ToChild[] = [];
  #isStopping = false;
  #killReason: string | undefined;
  #errorTail = '';

  constructor(settings: ChildSettings, listener: WorkerListener) {
    this.#child = start(settings);
    // The child is our own program, so its messages are of our own protocol.
    this.#child.on('message', (batch) => {
      if (this.#isStopping) return;
      for (const message of batch as ToParent[]) listener.received(message);
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errorTail = (this.#errorTail + chunk.toString()).slice(-errorTailLength);
    });
    const end = (reason: string, signal: NodeJS.Signals | null) => {
      if (this.#isStopping) return;
      this.#isStopping = true;
      listener.died(`${reason}\n${this.#errorTail}`.trim(), signal);
    };
    this.#child.once('error', (error) => end(error.message, null));
    this.#child.once('exit', (code, signal) => {
      end(this.#killReason ?? `exit ${signal ?? code}`, signal);
    });
  }

  /** Undefined when the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Without effect once the process has ended; its end is reported to the listener. What is sent in one turn
   * of the event loop goes out together, so that prompts that come together are read in one batch.
   */
  send(message: ToChild): void {
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** Ends a process that hangs, which its listener hears of as of any other death, with this reason. */
  kill(reason: string): void {
    this.#killReason = reason;
    this.#child.kill('SIGKILL');
  }

  /**
   * Ends the process and waits for it. How it exits does not matter: native destructors may abort,
   * and a process that does not go by itself is killed.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
    if (hasEnded || this.#child.pid === undefined) return;
    const ended = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopGraceMs);
    await ended;
    clearTimeout(timer);
  }

  #flush(): void {
    const messages = this.#outgoing.splice(0);
    if (this.#child.connected) this.#child.send(messages, () => {});
  }
}

const stopGraceMs = 2000;
const errorTailLength = 2000;

function start(settings: ChildSettings): ChildProcess {
  const here = fileURLToPath(import.meta.url);
  const extension = extname(here);
  const child = fileURLToPath(new URL(`./child/child${extension}`, import.meta.url));
  return fork(child, [JSON.stringify(settings)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: extension === '.ts' ? ['--import', resolveTypeScriptLoader()] : [],
    // A model file is foreign input to native code: what reads it sees none of our secrets.
    env: {},
  });
}

/** Only from source: the built program holds no TypeScript. */
function resolveTypeScriptLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
