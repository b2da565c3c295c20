import type { Log } from '../../kit/log.ts';
import { toExecution, type StoredExecution } from './journal/execution-row.ts';
import type { Callbacks, Execution, NodeError, SignalAnswer } from './execution.ts';
import type { SignalPlace } from './journal/executions-store.ts';
import type { EngineSql } from './journal/journal-store.ts';
import { markTold, takeUntold } from './replicas/replicas-store.ts';

export interface EndsOptions {
  readonly sql: EngineSql;
  readonly log: Log;
  /** Tells the node that waits for it, if there is one. */
  readonly signal: (at: SignalPlace, answer: SignalAnswer) => Promise<boolean>;
  /** Cancels the executions within one that it waits for no more. */
  readonly cancelChildren: (executionId: string) => Promise<unknown>;
  readonly callbacksOf: (stored: StoredExecution) => Callbacks | undefined;
}

/** What is known of an end. */
export interface EndFacts {
  /** Nodes of it were cancelled, so that executions within may still run for them. */
  readonly mayLeaveChildren: boolean;
}

type Listener = (execution: Execution) => Promise<void>;

/** After how long an end that nobody confirmed is told again. */
const againMs = 30_000;

/** Tells of ends, at least once where somebody has to know: whoever waits for it, calls back, or counts. */
export class Ends {
  readonly #options: EndsOptions;
  readonly #listeners: Listener[] = [];
  readonly #telling = new Set<Promise<void>>();
  #told: string[] = [];

  constructor(options: EndsOptions) {
    this.#options = options;
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** When the end of an execution is told again; undefined where it need not survive a crash. */
  tellAtMs(
    { request, batch }: StoredExecution,
    { mayLeaveChildren, nowMs }: EndFacts & { readonly nowMs: number },
  ): number | undefined {
    const isAwaited = request.parent ?? batch ?? request.callbacks;
    return isAwaited || mayLeaveChildren ? nowMs + againMs : undefined;
  }

  tell(stored: StoredExecution, facts: EndFacts): void {
    const telling = this.#tell(stored, facts).finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }

  /** Tells what others, or this process in an earlier life, did not come to tell. */
  async tellMissed(isAlone: boolean): Promise<void> {
    const missed = await takeUntold(this.#options.sql, { delayMs: againMs, isAlone });
    for (const stored of missed) this.tell(stored, { mayLeaveChildren: true });
  }

  /** Resolves when all that was begun is told. */
  async settled(): Promise<void> {
    await Promise.all(this.#telling);
  }

  async #tell(stored: StoredExecution, facts: EndFacts): Promise<void> {
    const { log, callbacksOf, signal, cancelChildren } = this.#options;
    try {
      if (facts.mayLeaveChildren) await cancelChildren(stored.id);
      const callbacks = callbacksOf(stored);
      const execution = { ...toExecution(stored), ...(callbacks ? { callbacks } : {}) };
      await Promise.all(this.#listeners.map((listener) => listener(execution)));
      const { parent } = stored.request;
      if (parent) await signal({ ...parent, childId: stored.id }, answerOf(stored));
      if (this.tellAtMs(stored, { ...facts, nowMs: 0 }) !== undefined)
        await this.#confirm(stored.id);
    } catch (error) {
      log.error({ err: error, executionId: stored.id }, 'the end of an execution was not told');
    }
  }

  /** One statement for all that this turn of the event loop brings. */
  #confirm(executionId: string): Promise<void> {
    this.#told.push(executionId);
    if (this.#told.length > 1) return this.#confirming;
    this.#confirming = new Promise((resolve) => setImmediate(resolve)).then(() => {
      const told = this.#told;
      this.#told = [];
      return markTold(this.#options.sql, told);
    });
    return this.#confirming;
  }

  #confirming: Promise<void> = Promise.resolve();
}

/** What an execution came to, as the node gets it that waits for it. */
export function answerOf(stored: StoredExecution): SignalAnswer {
  const { id, status, outcome, request } = stored;
  const { counted = { tokens: 0, cost: 0 } } = request;
  const tokens = Math.max(0, stored.tokensUsed - counted.tokens);
  const cost = Math.max(0, stored.cost - counted.cost);
  // Which tokens were of prompts is not kept.
  const usage = { promptTokens: tokens, completionTokens: 0, cost };
  const used = tokens > 0 || cost > 0 ? { usage } : {};
  if (status === 'completed') {
    return { output: { executionId: id, status, result: outcome?.result ?? {} }, ...used };
  }
  const error: Pick<NodeError, 'message' | 'code'> = outcome?.error ?? {
    message: 'the execution was cancelled',
    code: 'CANCELLED',
  };
  const isRetryable = outcome?.retryable ?? false;
  return { error: { message: error.message, code: error.code }, isRetryable, ...used };
}
