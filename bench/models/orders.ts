import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** So many requests at a time, each of the prompt's words and so many tokens of answer. */
export interface Order {
  readonly parallel: number;
  readonly requests: number;
  readonly promptWords: number;
  readonly answerTokens: number;
}

export interface Account {
  readonly wallMs: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** Of each request, from its start to its first text. */
  readonly firstMs: readonly number[];
  /** Of each request, from its start to its end. */
  readonly tookMs: readonly number[];
  /** CPU time of the process that answers the orders. */
  readonly cpuMs: number;
  /** CPU time of the process that holds the model, where that is another one; else 0. */
  readonly modelCpuMs: number;
  /** Of the process that holds the model. */
  readonly memoryBytes: number;
}

/** A process that completes prompts in its own way, as it is told. The owner disposes of it. */
export class Contestant implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts one of the ways of `way-child.ts`; rejects when it ends before it is ready. */
  static async start(way: string, modelPath: string): Promise<Contestant> {
    const module = new URL('way-child.js', import.meta.url);
    const child = fork(module, [way, modelPath], { execArgv: ['--no-warnings'] });
    await nextMessage(child);
    return new Contestant(child);
  }

  async carryOut(order: Order): Promise<Account> {
    const answer = nextMessage(this.#child);
    this.#child.send(order);
    // The child is our own program.
    return (await answer) as Account;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined;
    // It ends by itself then, and ends what it has started.
    if (this.#child.connected) this.#child.disconnect();
    await exited;
  }
}

/** What the child sends next; rejects when it ends before. */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a contestant ended (${code})`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
