import { failSpan, type Span } from '../../../kit/trace/trace.ts';
import type { Plan } from '../../flow/plan.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import type { NodeError } from '../execution.ts';
import type { NodeEntry, Outcome } from '../journal/journal-row.ts';
import { deadlock, overdueAt } from './node-failure.ts';
import { NodeOutcomes } from './node-outcomes.ts';
import { tellMove } from './move-outcomes.ts';
import { hasCancelled, walkAnew, type History } from './recovery.ts';
import type { RunEnvironment, RunOver } from './run-environment.ts';
import { RunJournal, type WriteState } from './run-journal.ts';
import { RunLimits } from './run-limits.ts';
import { RunPace } from './run-pace.ts';
import { RunningNodes } from './running-nodes.ts';
import { launchNode, startExecutionSpan } from './run-nodes.ts';
import type { Step } from '../walk/walk-frame.ts';
import { isBeginning, type Move } from '../walk/walk-moves.ts';
import type { Walk } from '../walk/walk.ts';

/** A wait this short is sat out in memory. */
const lingerMs = 1_000;

/** One execution while this process runs it. */
export class Run {
  readonly stored: StoredExecution;
  readonly #env: RunEnvironment;
  readonly #onOver: (over: RunOver) => void;
  readonly #walk: Walk;
  readonly #limits: RunLimits;
  readonly #journal: RunJournal;
  readonly #pace: RunPace;
  readonly #outcomes: NodeOutcomes;
  readonly #span: Span;
  readonly #running = new RunningNodes();
  #ready: Step[] = [];
  /** From an earlier life. */
  readonly #mayLeaveChildren: boolean;
  #signals: number;
  #holdCount = 0;
  #isOver = false;
  #isAdvancing = false;
  #mustDropChildren = false;
  #callOffDeadline = () => {};

  constructor(
    { stored, plan, history }: { stored: StoredExecution; plan: Plan; history: History },
    env: RunEnvironment,
    onOver: (over: RunOver) => void,
  ) {
    this.stored = stored;
    this.#env = env;
    this.#onOver = onOver;
    this.#signals = stored.signals;
    this.#mayLeaveChildren = hasCancelled(history);
    this.#limits = new RunLimits({ stored, plan, history }, env.nodeRunsMax);
    this.#journal = new RunJournal(stored, history, env);
    this.#span = startExecutionSpan(env.tracer, stored);
    this.#walk = walkAnew({ stored, plan, history });
    this.#pace = new RunPace({
      journal: this.#journal,
      turns: env.turns,
      goOn: () => this.#advance(),
      lose: (state) => this.#lose(state),
    });
    this.#outcomes = new NodeOutcomes({
      clock: env.clock,
      history,
      walk: this.#walk,
      limits: this.#limits,
      journal: this.#journal,
      raiseBarrier: (onStored) => this.#pace.raiseBarrier(onStored),
      settleChildren: () => void env.children.settle(stored.id),
      endFailed: (error, isRetryable) => this.#endFailed(error, isRetryable),
      onWoken: () => this.#advance(),
    });
  }

  /** Whether it takes nothing any more. */
  get isOver() {
    return this.#isOver;
  }

  /** Whether nothing runs and everything that was said is stored. */
  get isQuiet(): boolean {
    return this.#isOver || (this.#running.count === 0 && !this.#pace.hasBarrier);
  }

  /** Begins no further node. */
  drain(): void {
    this.#pace.drain();
  }

  begin(): void {
    const { deadlineAtMs } = this.stored;
    const { clock } = this.#env;
    if (deadlineAtMs !== undefined) {
      const leftMs = deadlineAtMs - clock.nowMs();
      this.#callOffDeadline = clock.after(leftMs, () => this.#timeOut());
      if (leftMs <= 0) {
        this.#walkOn();
        return this.#timeOut();
      }
    }
    this.#advance();
  }

  /** Takes answers to parked nodes; `signals` is how many ever came. */
  takeSignals({ signals, nodes }: { signals: number; nodes: readonly NodeEntry[] }): void {
    if (this.#isOver) return;
    this.#signals = signals;
    for (const entry of nodes) if (!this.#isOver) this.#outcomes.answer(entry);
    this.#advance();
  }

  /** Keeps it from parking while somebody reads answers for it. */
  async holding(work: () => Promise<void>): Promise<void> {
    this.#holdCount += 1;
    try {
      await work();
    } finally {
      this.#holdCount -= 1;
      if (!this.#isOver) this.#advance();
    }
  }

  /** Ends this process's part at once; what runs is aborted. */
  stop(reason: Error): void {
    this.#isOver = true;
    this.#callOffDeadline();
    this.#outcomes.parked.clear();
    this.#running.stop(reason);
    this.#span.end();
  }

  /** Hands on what is decided, and ends or parks when nothing is left to run. */
  #advance(): void {
    // What a move brings about is taken by the loop that took the move.
    if (this.#isOver || this.#isAdvancing) return;
    this.#isAdvancing = true;
    this.#walkOn();
    if (!this.#isOver && !this.#walk.hasDecided) this.#startReady();
    this.#isAdvancing = false;
    if (this.#isOver) return;
    const isIdle = this.#running.count + this.#ready.length === 0 && !this.#walk.hasDecided;
    if (!isIdle) {
      void this.#pace.write();
      if (this.#walk.hasDecided || this.#mayStart) this.#pace.goOnLater();
    } else if (this.#walk.isFinished) this.#complete();
    else if (this.#walk.parkedCount > 0) this.#park();
    else this.#endFailed(deadlock, false);
  }

  /** As long as nobody else has to come first. */
  #walkOn(): void {
    this.#takeMoves();
    while (!this.#isOver && this.#walk.hasDecided && !this.#pace.mustPause) {
      this.#walk.goOn();
      this.#takeMoves();
    }
    const hasCome = !this.#isOver && !this.#walk.hasDecided;
    if (hasCome && this.#outcomes.catchUp()) return this.#walkOn();
    this.#dropChildren();
  }

  #takeMoves(): void {
    for (const move of this.#walk.takeMoves()) if (!this.#isOver) this.#take(move);
  }

  #take(move: Move): void {
    const { step } = move;
    if (step.isDropped && move.kind !== 'cancelled') return;
    if (isBeginning(move) && !this.#outcomes.allowance.isCounted(step)) return;
    switch (move.kind) {
      case 'run':
        this.#ready.push(step);
        return;
      case 'cancelled':
        this.#ready = this.#ready.filter((ready) => ready !== step);
        this.#running.cancel(step);
        this.#outcomes.cancel(step);
        this.#mustDropChildren = true;
        return;
      default:
        tellMove(this.#outcomes, move);
    }
  }

  /** Of nodes that were cancelled, once that is stored. */
  #dropChildren(): void {
    if (!this.#mustDropChildren) return;
    this.#mustDropChildren = false;
    this.#pace.raiseBarrier(() => void this.#env.children.drop(this.stored.id));
  }

  /** Whether a node is ready and has a place. */
  get #mayStart(): boolean {
    const hasPlace = !this.#pace.hasBarrier && this.#running.count < this.#env.nodesMax;
    return hasPlace && this.#ready.length > 0;
  }

  #startReady(): void {
    while (this.#mayStart && !this.#pace.mustPause) {
      const step = this.#ready.shift();
      if (!step || !this.#outcomes.allowance.isWithinBudget(step)) return;
      void this.#run(step);
    }
  }

  async #run(step: Step): Promise<void> {
    const { key } = step;
    step.state = 'active';
    const signal = this.#running.begin(step);
    this.#journal.started(step);
    const end = await launchNode(step, {
      stored: this.stored,
      env: this.#env,
      span: this.#span,
      signal,
      seen: this.#walk.seenBy(step),
      underway: this.#outcomes.underwayOf(key),
      budget: () => this.#limits.rest,
      onRetry: async (retry) => {
        if (this.#isOver || !this.#outcomes.mayRetry(step, retry)) return;
        await this.#pace.write();
      },
    });
    if (this.#isOver || step.isDropped) return;
    this.#running.end(step);
    this.#outcomes.settle(step, end);
    this.#advance();
  }

  #timeOut(): void {
    if (this.#isOver) return;
    const [step] = [...this.#running.steps(), ...this.#outcomes.parked.steps(), ...this.#ready];
    this.#endFailed(overdueAt(step?.nodeId ?? ''), true);
  }

  #endFailed(error: NodeError, retryable: boolean): void {
    if (this.#isOver) return;
    failSpan(this.#span, new Error(error.message));
    this.#outcomes.cancelAll(this.#ready);
    this.#journal.ending('workflow-failed', { error });
    this.#end('failed', { error, retryable });
  }

  #complete(): void {
    const result = this.#outcomes.result();
    this.#journal.ending('workflow-completed', { result });
    this.#end('completed', { result });
  }

  #end(status: 'completed' | 'failed', outcome: Outcome): void {
    const { clock, tellAtMs } = this.#env;
    const usage = { tokensUsed: this.#limits.tokens, cost: this.#limits.cost };
    const completedAtMs = clock.nowMs();
    this.stop(new Error('the execution has ended'));
    const change = { status, ...usage, signals: this.#signals, completedAtMs, outcome };
    const facts = { mayLeaveChildren: this.#mayLeaveChildren || this.#journal.hasCancelled };
    const tellAt = tellAtMs(this.stored, facts);
    const stored = { ...this.stored, status, ...usage, completedAtMs, outcome };
    void this.#journal
      .write({ ...change, ...(tellAt === undefined ? {} : { tellAtMs: tellAt }) })
      .then((state) => this.#leave(state, { kind: 'ended', stored, facts }));
  }

  /** Lets go of the memory; whoever wakes it builds it anew from the journal. */
  #park(): void {
    const wakeAtMs = this.#outcomes.parked.nearestWakeMs();
    const soon = this.#env.clock.nowMs() + lingerMs;
    const mustStay = this.#holdCount > 0 || (wakeAtMs !== undefined && wakeAtMs <= soon);
    if (mustStay) {
      void this.#pace.write();
      return;
    }
    const times = [wakeAtMs, this.stored.deadlineAtMs].filter((time) => time !== undefined);
    const nearest = times.length > 0 ? Math.min(...times) : undefined;
    this.stop(new Error('the execution waits'));
    void this.#journal
      .write({
        status: 'waiting',
        tokensUsed: this.#limits.tokens,
        cost: this.#limits.cost,
        signals: this.#signals,
        ...(nearest === undefined ? {} : { wakeAtMs: nearest }),
      })
      .then((state) => this.#leave(state, { kind: 'parked', wakeAtMs: nearest }));
  }

  #lose(state: Exclude<WriteState, 'stored'>): void {
    if (this.#isOver) return;
    this.stop(new Error('the execution runs elsewhere'));
    this.#onOver({ kind: 'lost', mustRelease: state === 'failed' });
  }

  #leave(state: WriteState, over: RunOver): void {
    const lost: RunOver = { kind: 'lost', mustRelease: state === 'failed' };
    this.#onOver(state === 'stored' ? over : lost);
  }
}
