import { Fault } from '../../../kit/errors.ts';
import { Evaluator, type Verdict } from './evaluator.ts';
import type { TransformQuestion } from './transform-process.ts';

export interface TransformTask {
  /** JSONata. */
  readonly expression: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  /** Who waits: the owners take turns. */
  readonly ownerId: string;
  readonly signal: AbortSignal;
}

interface Job {
  readonly question: TransformQuestion;
  readonly resolve: (verdict: Verdict) => void;
}

/** Characters of JSON. */
const inputLengthMax = 8 * 1024 * 1024;
const resultLengthMax = 1024 * 1024;
/** Evaluations of one owner that may wait for their turn. */
const waitingMax = 200;

/** Evaluates JSONata in a process of its own, in bounded time and memory. */
export class Transformer implements AsyncDisposable {
  readonly #evaluator = new Evaluator();
  readonly #queues = new Map<string, Job[]>();
  #isRunning = false;
  #isClosed = false;

  /**
   * The result as JSON holds it. Faults: `invalid` (`transform_failed`, `transform_timeout`,
   * `transform_too_large`) for what the same again does not mend, else `exhausted`, `unavailable`,
   * `cancelled`.
   */
  async evaluate(task: TransformTask): Promise<unknown> {
    const { expression, timeoutMs } = task;
    const input = JSON.stringify(task.input ?? null);
    if (input.length > inputLengthMax) throw tooLarge('the input');
    const question = { expression, input, timeoutMs, resultLengthMax };
    return readVerdict(await this.#ask(question, task), timeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { resolve } of [...this.#queues.values()].flat()) resolve(closed);
    this.#queues.clear();
    await this.#evaluator[Symbol.asyncDispose]();
  }

  async #ask(question: TransformQuestion, task: TransformTask): Promise<Verdict> {
    const { ownerId, signal } = task;
    if (this.#isClosed) return closed;
    if (signal.aborted) throw Fault.from(signal.reason);
    const queue = this.#queues.get(ownerId) ?? [];
    if (queue.length >= waitingMax) throw tooMany();
    this.#queues.set(ownerId, queue);
    const answered = new AbortController();
    const verdict = new Promise<Verdict>((resolve, reject) => {
      const job = { question, resolve };
      queue.push(job);
      const leave = (): void => {
        const place = queue.indexOf(job);
        if (place !== -1) queue.splice(place, 1);
        reject(Fault.from(signal.reason));
      };
      signal.addEventListener('abort', leave, { once: true, signal: answered.signal });
    });
    void this.#run();
    return verdict.finally(() => answered.abort());
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let job = this.#next(); job; job = this.#next()) {
      job.resolve(await this.#evaluator.ask(job.question));
    }
    this.#isRunning = false;
  }

  /** The first of the owner who was served longest ago, who goes behind the others. */
  #next(): Job | undefined {
    for (const [ownerId, queue] of this.#queues) {
      this.#queues.delete(ownerId);
      const job = queue.shift();
      if (queue.length > 0) this.#queues.set(ownerId, queue);
      if (job) return job;
    }
    return undefined;
  }
}

const closed: Verdict = { kind: 'died', cause: new Error('the service stops') };

function readVerdict(verdict: Verdict, timeoutMs: number): unknown {
  if (verdict.kind === 'result') return JSON.parse(verdict.result);
  throw faultOf(verdict, timeoutMs);
}

function faultOf(verdict: Exclude<Verdict, { kind: 'result' }>, timeoutMs: number): Fault {
  if (verdict.kind === 'failed') return failed(verdict);
  if (verdict.kind === 'too-large') return tooLarge('the result');
  if (verdict.kind === 'out-of-memory') return tooLarge('what the expression made');
  if (verdict.kind === 'timeout') {
    const message = `the expression took more than ${timeoutMs} ms`;
    return new Fault('invalid', message, { reason: 'transform_timeout' });
  }
  const { cause } = verdict;
  return new Fault('unavailable', 'nothing can be transformed now', { cause, retryAfter: 1 });
}

function failed({ message, position }: Extract<Verdict, { kind: 'failed' }>): Fault {
  const detail = position === undefined ? {} : { position };
  return new Fault('invalid', message, { reason: 'transform_failed', detail });
}

function tooLarge(what: string): Fault {
  return new Fault('invalid', `${what} is too large`, { reason: 'transform_too_large' });
}

function tooMany(): Fault {
  return new Fault('exhausted', 'too many transforms wait', { retryAfter: 2 });
}
