import type { NodeDone, NodeParked } from '../../components/component.ts';
import { sumUsage } from '../../components/spent-fault.ts';
import type { SignalAnswer } from '../execution.ts';
import { nodeKey, type NodeEntry } from '../journal/journal-row.ts';
import { failureOf, isRetryableCode, late } from './node-failure.ts';
import { attemptsOf, delayBefore, type NodeEnd, type NodeWork } from './node-runner.ts';
import type { Underway } from '../journal/open-nodes.ts';
import { ParkedNodes, type ParkedNode } from './parked-nodes.ts';
import type { Failed, Last, OutcomeParts } from './outcome-parts.ts';
import { RunAllowance } from './run-allowance.ts';
import { writeOutput, readOutput } from '../journal/outputs.ts';
import { catchersOf } from '../walk/walk-catchers.ts';
import { hasErrorWay } from '../walk/walk-edges.ts';
import type { Step } from '../walk/walk-frame.ts';
import { writtenOutput } from './written-output.ts';

/** Takes what the nodes of one run came to: says it to the journal, then to the walk. */
export class NodeOutcomes {
  readonly parked: ParkedNodes;
  readonly allowance: RunAllowance;
  readonly #parts: OutcomeParts;
  /** Attempts that nodes which waited go on with. */
  readonly #further = new Map<string, Underway>();
  /** Answers that came before the walk was where the life before had ended; undefined from there on. */
  #early: NodeEntry[] | undefined = [];

  constructor(parts: OutcomeParts) {
    this.#parts = parts;
    this.allowance = new RunAllowance(parts);
    this.parked = new ParkedNodes(parts.clock, (node) => {
      this.#wake(node);
      parts.onWoken();
    });
  }

  /** The attempt that a node goes on with; the first when undefined. */
  underwayOf(key: string): Underway | undefined {
    return this.#further.get(key) ?? this.#parts.history.underway.get(key);
  }

  /** Of a node that was run. */
  settle(step: Step, end: NodeEnd): void {
    if (end.kind === 'stopped') return;
    const { attempt, spent } = end;
    if (end.kind === 'failed') {
      const { failure } = end;
      if (failure.usage) this.#parts.limits.use(failure.usage);
      const usage = sumUsage(spent, failure.usage);
      return this.#failOrContinue(step, { failure, attempt, usage });
    }
    const { outcome } = end;
    if (outcome.kind === 'done') return this.#end(step, outcome, { attempt, spent });
    this.#attempt(step, { attempt, usage: spent }, () => this.#park(step, outcome, attempt));
  }

  /** Of an attempt that failed; false, and the execution has failed, when the budget allows no other. */
  mayRetry(step: Step, retry: Parameters<NodeWork['onRetry']>[0]): boolean {
    const { failure, attempt, delayMs, spent: usage } = retry;
    const { limits, journal } = this.#parts;
    if (failure.usage) {
      limits.use(failure.usage);
      if (!limits.isWithinBudget)
        journal.failed(step, { failure, attempt, usage, isContinued: false });
      if (!this.allowance.isWithinBudget(step)) return false;
    }
    journal.retrying(step, { error: failure.error, attempt, delayMs, usage });
    return true;
  }

  /** Of a node that nothing led to. */
  skip(step: Step): void {
    const { history, journal } = this.#parts;
    if (!history.entries.has(step.key)) journal.skipped(step);
  }

  /** A Loop or a Parallel began, in this life or an earlier one. */
  open(step: Step): void {
    const { clock, history, journal } = this.#parts;
    const { timeout } = step.shape.planned.node;
    const before = history.entries.get(step.key)?.body;
    const dueAtMs = timeout === undefined ? undefined : clock.nowMs() + timeout;
    const wakeAtMs = before?.wakeAtMs ?? dueAtMs;
    if (before) journal.remember(step, before);
    else journal.opened(step, wakeAtMs);
    this.parked.add({ step, reason: 'inner', wakeAtMs, output: 'null', attempt: 1 });
  }

  /**
   * The walk is where the life before had ended; false when it was so already. Whatever had no more time
   * by then ends first, with what it runs, answered or not.
   */
  catchUp(): boolean {
    const early = this.#early;
    if (!early) return false;
    this.#early = undefined;
    while (true) {
      const overdue = this.parked.takeOverdue();
      if (!overdue) break;
      if (!overdue.step.hasEnded) this.#wake(overdue);
    }
    for (const entry of early) this.answer(entry);
    this.parked.start();
    return true;
  }

  /** It was ended with the Loop or the Parallel that ran it. */
  cancel(step: Step): void {
    this.parked.take(step.nodeId, step.iteration);
    this.#recall(step);
    this.#parts.journal.cancelled(step, true);
  }

  /** The execution has failed; the given nodes were about to run. */
  cancelAll(ready: readonly Step[]): void {
    for (const step of ready) this.#recall(step);
    this.#parts.journal.cancelledAll();
  }

  /** Of a Loop, a Parallel or a pinned node, which the walk has ended already. */
  close(step: Step): void {
    this.parked.take(step.nodeId, step.iteration);
    try {
      const { output, handle } = step;
      const { text, shown } = writtenOutput(step, output, this.#parts.history.secrets);
      this.#parts.limits.checkOutput(text);
      this.#parts.journal.ended(step, { output: text, value: shown, handle, attempt: 1 });
    } catch (error) {
      this.#fail(step, { failure: failureOf(error), attempt: 1 });
    }
  }

  /** What stands at a node cannot be worked out; what the node itself came to is kept. */
  failAt(step: Step, thrown: unknown): void {
    const failed = { failure: failureOf(thrown), attempt: 1 };
    if (step.hasEnded) this.#endAround(step, failed);
    else if (step.shape.planned.component.control) this.#failOrContinue(step, failed);
    else this.#fail(step, failed);
  }

  /** A node that was parked in an earlier life. */
  restore(step: Step): void {
    const { history, journal } = this.#parts;
    const entry = history.entries.get(nodeKey(step.nodeId, step.iteration));
    if (!entry) return;
    const { reason = 'wait', wakeAtMs, attempt, usage: spent } = entry.body;
    journal.remember(step, entry.body);
    const output = entry.output ?? 'null';
    this.parked.add({ step, reason, wakeAtMs, output, attempt, spent });
    if (entry.status === 'signalled') this.answer(entry);
  }

  /** Of a parked node that somebody answered. */
  answer(entry: NodeEntry): void {
    if (this.#early) {
      this.#early.push(entry);
      return;
    }
    const node = this.parked.take(entry.nodeId, entry.iteration);
    if (!node) return;
    // Written by `signalNode`.
    if (node.attempt === entry.body.attempt)
      this.#wakeWith(node, readOutput(entry.output) as SignalAnswer);
    // Of the attempt before, of which the row still tells.
    else this.parked.add(node);
  }

  /** Of the whole execution, as it is told and stored. */
  result(): Readonly<Record<string, unknown>> {
    const { walk, history } = this.#parts;
    const result = walk.result();
    // An object stays one.
    return history.secrets ? (history.secrets.hide(result) as typeof result) : result;
  }

  /** An earlier life may have begun it. */
  #recall(step: Step): void {
    const { history, journal } = this.#parts;
    const begun = history.underway.get(step.key);
    if (begun) journal.recall(step, Date.parse(begun.event.timestamp));
  }

  #end(step: Step, done: NodeDone, { attempt, spent }: Last): void {
    const usage = sumUsage(spent, done.usage);
    if (done.usage) this.#parts.limits.use(done.usage);
    this.#attempt(step, { attempt, usage }, () => this.#keep(step, { ...done, attempt, usage }));
  }

  #keep(step: Step, done: Omit<NodeDone, 'usage'> & Omit<Failed, 'failure'>): void {
    const { output, handle, usage, entityCreated, attempt } = done;
    const { limits, journal, walk, raiseBarrier, history } = this.#parts;
    const { text, value, shown } = writtenOutput(step, output, history.secrets);
    limits.checkOutput(text);
    journal.ended(step, { output: text, value: shown, handle, attempt, usage, entityCreated });
    if (usage && !this.allowance.isWithinBudget(step)) return;
    // What only computes need not be stored before its successors begin.
    if (step.shape.planned.component.effect !== 'none') raiseBarrier();
    walk.resolve(step, value, handle);
  }

  #park(step: Step, { reason, wakeAtMs, detail, output }: NodeParked, attempt: number): void {
    const { limits, journal, walk, raiseBarrier } = this.#parts;
    const text = writeOutput(output);
    limits.checkOutput(text);
    journal.waiting(step, { output: text, attempt, reason, wakeAtMs, detail });
    raiseBarrier(reason === 'child' ? this.#parts.settleChildren : undefined);
    walk.park(step);
    this.parked.add({ step, reason, wakeAtMs, output: text, attempt });
  }

  /** The time of a parked node has come. */
  #wake(node: ParkedNode): void {
    if (node.reason === 'inner') {
      const { step } = node;
      const failure = failureOf(late(step.shape.planned.node.timeout ?? 0));
      return this.#failOrContinue(step, { failure, attempt: 1 });
    }
    if (node.reason === 'wait') {
      this.#wakeWith(node, { output: readOutput(node.output) });
      return;
    }
    const code = `${node.reason.toUpperCase()}_TIMEOUT`;
    this.#wakeWith(node, { error: { message: 'nothing answered in time', code } });
  }

  #wakeWith({ step, attempt, spent }: ParkedNode, answer: SignalAnswer): void {
    const { usage } = answer;
    if ('error' in answer) {
      const { error, isRetryable = isRetryableCode(error.code) } = answer;
      if (usage) this.#parts.limits.use(usage);
      const used = sumUsage(spent, usage);
      this.#tryAgainOrFail(step, { failure: { error, isRetryable }, attempt, usage: used });
      return;
    }
    const { output, handle } = answer;
    const said = { ...(handle === undefined ? {} : { handle }), ...(usage ? { usage } : {}) };
    this.#end(step, { kind: 'done', output, ...said }, { attempt, spent });
  }

  /** Of a node that waited. */
  #tryAgainOrFail(step: Step, failed: Failed): void {
    const { failure, attempt } = failed;
    const { retry } = step.shape.planned.node;
    if (!failure.isRetryable || attempt >= attemptsOf(retry)) {
      return this.#failOrContinue(step, failed);
    }
    const { clock, journal, walk } = this.#parts;
    const delayMs = delayBefore(retry, { attempt, random: clock.random() });
    journal.retrying(step, { error: failure.error, attempt, delayMs });
    const pause = { atMs: clock.nowMs() + delayMs, pauseMs: delayMs };
    this.#further.set(step.key, { attempt: attempt + 1, ...pause });
    walk.runAgain(step);
  }

  /** What the journal cannot take fails the node. */
  #attempt(step: Step, last: Omit<Failed, 'failure'>, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failOrContinue(step, { failure: failureOf(error), ...last });
    }
  }

  #failOrContinue(step: Step, failed: Failed): void {
    const { node, component } = step.shape.planned;
    if (node.onError !== 'continue') return this.#fail(step, failed);
    const { journal, walk, raiseBarrier } = this.#parts;
    const handle = hasErrorWay(step.shape) ? 'error' : undefined;
    const output = writeOutput({ error: failed.failure.error });
    journal.failed(step, { ...failed, output, handle, isContinued: true });
    if (failed.usage && !this.allowance.isWithinBudget(step)) return;
    if (component.control) {
      this.parked.take(step.nodeId, step.iteration);
      raiseBarrier();
      return walk.endEarly(step, readOutput(output), handle);
    }
    if (component.effect !== 'none') raiseBarrier();
    walk.resolve(step, readOutput(output), handle);
  }

  #fail(step: Step, failed: Failed): void {
    const isDropped = catchersOf(step) !== undefined;
    this.#parts.journal.failed(step, { ...failed, isContinued: false, isDropped });
    this.#endAround(step, failed);
  }

  /** Ends what goes on from the failure of a node that it runs, or else the execution. */
  #endAround(step: Step, { failure, attempt }: Failed): void {
    const { walk, endFailed } = this.#parts;
    const catchers = catchersOf(step);
    if (!catchers) {
      return endFailed({ nodeId: step.nodeId, attempt, ...failure.error }, failure.isRetryable);
    }
    if (failure.usage && !this.allowance.isWithinBudget(step)) return;
    walk.fail(step);
    for (const catcher of catchers) {
      if (!catcher.hasEnded) this.#failOrContinue(catcher, { failure, attempt: 1 });
    }
  }
}
