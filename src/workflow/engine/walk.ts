import type { Plan } from '../flow/plan.ts';
import type { StoredRequest } from './execution-row.ts';
import { GivenInputs, type Seen } from './given-inputs.ts';
import type { OutputSecrets } from './output-secrets.ts';
import { shapeOf } from './flow-shape.ts';
import { isBodyEdge, isTaken, pinnedHandle, roundResult, roundsOf } from './walk-edges.ts';
import { Frame, Step, type FrameOptions } from './walk-frame.ts';
import type { Move } from './walk-moves.ts';

/** What a node came to in an earlier life of the execution. */
export interface Past {
  readonly kind: 'done' | 'parked';
  readonly output: unknown;
  readonly handle?: string | undefined;
}

export interface WalkOptions {
  readonly plan: Plan;
  /** What is pinned stands in for running nodes, in every iteration. */
  readonly request: Pick<StoredRequest, 'inputs' | 'inputUses' | 'pinned'>;
  readonly execution: { readonly id: string; readonly workflowId: string };
  /** Of the outputs; absent where no node gives any. */
  readonly secrets?: OutputSecrets | undefined;
  readonly past: (nodeId: string, iteration: string) => Past | undefined;
}

/**
 * The order in which the nodes of one execution run, without time, storage or components: it is told
 * what nodes came to and says what comes next. The same outcomes give the same walk, in whatever order
 * they come, so that an execution is taken up again by walking it anew over its journal.
 */
export class Walk {
  readonly #options: WalkOptions;
  readonly #frames: FrameOptions;
  readonly #given: GivenInputs;
  readonly #root: Frame;
  readonly #moves: Move[] = [];
  readonly #decided: Step[] = [];
  #parkedCount = 0;

  constructor(options: WalkOptions) {
    const { plan, request, execution, secrets } = options;
    this.#options = options;
    this.#frames = { shapes: shapeOf(plan), inputs: request.inputs, execution };
    this.#given = new GivenInputs(request, secrets);
    this.#root = new Frame(this.#frames);
    this.#enter(this.#root);
  }

  /** Whether something is decided of which `goOn` has not made anything yet. */
  get hasDecided(): boolean {
    return this.#decided.length > 0;
  }

  get isFinished(): boolean {
    return this.#root.openCount === 0;
  }

  get parkedCount(): number {
    return this.#parkedCount;
  }

  /** Takes one node that is decided, of however many; whoever calls it says how long it goes on. */
  goOn(): void {
    const step = this.#decided.shift();
    if (step?.state !== 'pending') return;
    const { incoming, fromLoop } = step.shape;
    const isReached = step.takenCount > 0 || incoming.length + fromLoop.length === 0;
    if (isReached) this.#begin(step);
    else this.#skip(step);
  }

  /** What came to be since the last call, and what comes to be while it is taken. */
  *takeMoves(): Generator<Move> {
    for (let move = this.#moves.shift(); move; move = this.#moves.shift()) yield move;
  }

  /** A node ended, on this handle. */
  resolve(step: Step, output: unknown, handle: string | undefined): void {
    this.#end(step, output, handle);
  }

  /** A node waits without running. */
  park(step: Step): void {
    step.state = 'parked';
    this.#parkedCount += 1;
  }

  /** A node that waited is to run once more. */
  runAgain(step: Step): void {
    this.#parkedCount -= 1;
    this.#ready(step);
  }

  seenBy(step: Step): Seen {
    return this.#given.seenBy(step);
  }

  /** Outputs of the ends that were not skipped. */
  result(): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const nodeId of this.#options.plan.ends) {
      const step = this.#root.steps.get(nodeId);
      if (step?.state === 'done') result[nodeId] = step.output;
    }
    return result;
  }

  #enter(frame: Frame): void {
    for (const step of frame.steps.values()) {
      for (const edge of step.shape.fromLoop) {
        step.openCount -= 1;
        if (this.#guard(step, () => isBodyEdge(edge) && edge.isOpen(frame.scope))) {
          step.takenCount += 1;
        }
      }
      if (step.openCount === 0) this.#decided.push(step);
    }
  }

  #skip(step: Step): void {
    step.state = 'skipped';
    this.#moves.push({ kind: 'skipped', step });
    this.#leave(step);
  }

  #begin(step: Step): void {
    const { request, past } = this.#options;
    const { pinned = {} } = request;
    const { component } = step.shape.planned;
    const before = past(step.nodeId, step.iteration);
    if (before?.kind === 'done') {
      this.#end(step, before.output, before.handle);
    } else if (before) {
      this.park(step);
      this.#moves.push({ kind: 'parked', step });
    } else if (Object.hasOwn(pinned, step.nodeId)) {
      this.#end(step, pinned[step.nodeId], pinnedHandle(step, pinned[step.nodeId]));
      this.#moves.push({ kind: 'pinned', step });
    } else if (component.control === 'loop') {
      this.#guard(step, () => this.#openLoop(step));
    } else if (component.control === 'parallel') {
      this.#openParallel(step);
    } else {
      this.#ready(step);
    }
  }

  #ready(step: Step): void {
    step.state = 'ready';
    this.#moves.push({ kind: 'run', step });
  }

  #close(step: Step, output: unknown, handle: string | undefined): void {
    this.#end(step, output, handle);
    this.#moves.push({ kind: 'closed', step });
  }

  #end(step: Step, output: unknown, handle: string | undefined): void {
    if (step.state === 'parked') this.#parkedCount -= 1;
    const wasOpen = step.shape.planned.component.control === 'parallel' && step.state === 'active';
    step.state = 'done';
    step.output = output;
    step.handle = handle;
    step.frame.keep(step.nodeId, output);
    // The successors of a Parallel began with it.
    if (wasOpen) this.#tellWaiting(step);
    else this.#leave(step);
    if (wasOpen) this.#count(step.frame);
  }

  /** Decides the edges that leave a node that ended or was skipped. */
  #leave(step: Step): void {
    this.#decideEdges(step);
    this.#tellWaiting(step);
    this.#count(step.frame);
  }

  #decideEdges(step: Step): void {
    const { shape, frame } = step;
    for (const edge of shape.outgoing) {
      const target = frame.steps.get(edge.target);
      if (!target) continue;
      const isOpen = step.state !== 'skipped' && isTaken(step, edge);
      if (isOpen && this.#guard(step, () => edge.isOpen(frame.scope))) target.takenCount += 1;
      this.#decide(target);
    }
  }

  /** Those who wait for a Parallel's end, and the Parallels whose task this is. */
  #tellWaiting(step: Step): void {
    if (step.shape.planned.component.control === 'parallel') {
      for (const other of step.frame.steps.values()) {
        if (other.shape.awaits.includes(step.nodeId)) this.#decide(other);
      }
    }
    for (const parallel of step.watchers.splice(0)) {
      parallel.taskCount -= 1;
      if (parallel.taskCount === 0) this.#closeParallel(parallel);
    }
  }

  #decide(step: Step): void {
    step.openCount -= 1;
    if (step.openCount === 0) this.#decided.push(step);
  }

  #count(frame: Frame): void {
    frame.openCount -= 1;
    if (frame.openCount === 0 && frame.round) this.#endRound(frame);
  }

  #openParallel(step: Step): void {
    step.state = 'active';
    this.#moves.push({ kind: 'opened', step });
    for (const nodeId of step.shape.planned.tasks ?? []) {
      const task = step.frame.steps.get(nodeId);
      if (!task || task.hasEnded) continue;
      task.watchers.push(step);
      step.taskCount += 1;
    }
    this.#decideEdges(step);
    if (step.taskCount === 0) this.#closeParallel(step);
  }

  #closeParallel(step: Step): void {
    const tasks = step.shape.planned.tasks ?? [];
    const results = tasks.map((nodeId) => step.frame.steps.get(nodeId)?.output ?? null);
    this.#close(step, { results }, undefined);
  }

  #openLoop(step: Step): void {
    const { items, atOnce } = roundsOf(this.#given.settingsOf(step));
    step.rounds = { items, concurrency: atOnce, results: [], nextIndex: 0, endedCount: 0 };
    step.state = 'active';
    this.#moves.push({ kind: 'opened', step });
    // A Loop that nothing leads back to has no body.
    if (!this.#frames.shapes.has(step.nodeId)) step.rounds.results.push(...items.map(() => null));
    if (step.rounds.results.length === items.length) this.#closeLoop(step);
    else for (let round = 0; round < atOnce; round += 1) this.#openRound(step);
  }

  #openRound(loop: Step): void {
    const { rounds } = loop;
    if (!rounds || rounds.nextIndex >= rounds.items.length) return;
    const index = rounds.nextIndex;
    rounds.nextIndex += 1;
    this.#enter(new Frame(this.#frames, { loop, index }));
  }

  #endRound(frame: Frame): void {
    const { loop, index } = frame.round ?? {};
    const rounds = loop?.rounds;
    if (!loop || !rounds || index === undefined) return;
    this.#guard(loop, () => {
      rounds.results[index] = roundResult(loop, frame);
    });
    rounds.endedCount += 1;
    if (rounds.endedCount === rounds.items.length) this.#closeLoop(loop);
    else this.#openRound(loop);
  }

  #closeLoop(step: Step): void {
    const results = step.rounds?.results ?? [];
    step.rounds = undefined;
    this.#close(step, { results, count: results.length }, 'done');
  }

  /** What the flow's author wrote may fail; then the node at which it stands does. */
  #guard<T>(step: Step, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#moves.push({ kind: 'failed', step, error });
      return undefined;
    }
  }
}
