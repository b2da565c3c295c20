import type { ChildProcess } from 'node:child_process';
import { startIsolated } from '../../../kit/entry-file.ts';
import type { TransformQuestion, TransformReply } from './transform-process.ts';

/** How a question ended: as the process said, or with the process. */
export type Verdict =
  | Exclude<TransformReply, { readonly kind: 'ready' }>
  | { readonly kind: 'out-of-memory' }
  | { readonly kind: 'died'; readonly cause: unknown };

const processFile = { beside: import.meta.url, name: 'transform-process' };
const heapMegabytes = 128;
/** For the evaluator to stop by itself; a regular expression that backtracks does not. */
const graceMs = 200;

/**
 * The process that evaluates, one question at a time. It begins with the first question; one that
 * hangs or outgrows its memory ends it, and the next question gets a new one.
 */
export class Evaluator implements AsyncDisposable {
  #process: ChildProcess | undefined;
  #settle: ((verdict: Verdict | undefined) => void) | undefined;
  #isClosed = false;

  /** Never rejects, and settles soon after the question's time is over. */
  async ask(question: TransformQuestion): Promise<Verdict> {
    if (this.#isClosed) return { kind: 'died', cause: new Error('the evaluator is closed') };
    if (!this.#process) {
      this.#process = this.#start();
      // Its start is nobody's evaluation time.
      const failure = await this.#reply();
      if (failure) return failure;
    }
    const asked = this.#process;
    const timer = setTimeout(() => this.#end(asked), question.timeoutMs + graceMs);
    // What cannot be sent has ended, which `exit` tells.
    asked.send(question, () => {});
    const verdict = await this.#reply();
    clearTimeout(timer);
    return verdict ?? { kind: 'timeout' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const last = this.#process;
    if (!last) return;
    const ended = new Promise((resolve) => last.once('exit', resolve));
    last.kill('SIGKILL');
    await ended;
  }

  /** What the process says next; undefined when it is ready, or was ended. */
  #reply(): Promise<Verdict | undefined> {
    return new Promise((resolve) => (this.#settle = resolve));
  }

  #start(): ChildProcess {
    const started = startIsolated(processFile, heapMegabytes);
    const leave = (verdict: Verdict): void => {
      if (started !== this.#process) return;
      this.#process = undefined;
      this.#settle?.(verdict);
    };
    started.on('message', (reply: TransformReply) => {
      if (started === this.#process) this.#settle?.(reply.kind === 'ready' ? undefined : reply);
    });
    started.on('error', (cause) => leave({ kind: 'died', cause }));
    started.once('exit', (code, signal) => leave(verdictOf(code, signal)));
    return started;
  }

  #end(late: ChildProcess): void {
    if (late !== this.#process) return;
    this.#process = undefined;
    this.#settle?.(undefined);
    late.kill('SIGKILL');
  }
}

/** V8 aborts when the heap is full. */
function verdictOf(code: number | null, signal: NodeJS.Signals | null): Verdict {
  if (signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134) {
    return { kind: 'out-of-memory' };
  }
  return { kind: 'died', cause: new Error(`the process ended: ${signal ?? code}`) };
}
