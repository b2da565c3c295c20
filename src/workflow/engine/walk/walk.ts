import type { PlannedEdge } from '../../flow/plan.ts';
import { GivenInputs, type Seen } from './given-inputs.ts';
import { shapeOf } from './flow-shape.ts';
import { isBodyEdge, isErrorEdge, isTaken, pinnedHandle } from './walk-edges.ts';
import { Frame, Step } from './walk-frame.ts';
import { WalkLoops } from './walk-loops.ts';
import type { Move } from './walk-moves.ts';
import type { Past, WalkOptions } from './walk-options.ts';

/**
 * The order in which the nodes of one execution run, without time, storage or components: it is told
 * what nodes came to and says what comes next. The same outcomes give the same walk, in whatever order
 * they come, so that an execution is taken up again by walking it anew over its journal.
 */
export class Walk {
  readonly #options: WalkOptions;
  readonly #given: GivenInputs;
  readonly #loops: WalkLoops;
  readonly #root: Frame;
  readonly #moves: Move[] = [];
  readonly #decided: Step[] = [];
  #parkedCount = 0;

  constructor(options: WalkOptions) {
    const { plan, request, execution, secrets } = options;
    this.#options = options;
    const frames = { shapes: shapeOf(plan), inputs: request.inputs, execution };
    this.#given = new GivenInputs(request, secrets);
    this.#loops = new WalkLoops({
      frames,
      settingsOf: (loop) => this.#given.settingsOf(loop),
      onOpened: (loop) => this.#moves.push({ kind: 'opened', step: loop }),
      enter: (frame) => this.#enter(frame),
      close: (loop, output) => this.#close(loop, output, 'done'),
      guard: (loop, work) => this.#guard(loop, work),
    });
    this.#root = new Frame(frames);
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

  /** A node failed, and a Loop or a Parallel around it is about to end with it. */
  fail(step: Step): void {
    if (!step.hasEnded) step.state = 'failed';
  }

  /** A Loop or a Parallel ends before what it runs, and that with it. */
  endEarly(step: Step, output: unknown, handle: string | undefined): void {
    this.#dropRounds(step);
    step.state = 'failed';
    if (step.isOpened) this.#dropTasks(step, () => false);
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
    if (before?.kind === 'done' && before.isFailed && component.control === 'parallel') {
      this.#failAgain(step, before);
    } else if (before?.kind === 'done') {
      this.#end(step, before.output, before.handle);
    } else if (before) {
      this.park(step);
      this.#moves.push({ kind: 'parked', step });
    } else if (Object.hasOwn(pinned, step.nodeId)) {
      this.#end(step, pinned[step.nodeId], pinnedHandle(step, pinned[step.nodeId]));
      this.#moves.push({ kind: 'pinned', step });
    } else if (component.control === 'loop') {
      this.#guard(step, () => this.#loops.open(step));
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
    step.state = 'done';
    step.output = output;
    step.handle = handle;
    step.frame.keep(step.nodeId, output);
    // The successors of a Parallel began with it.
    if (!step.isOpened) return this.#leave(step);
    this.#decideEdges(step, isErrorEdge);
    this.#tellWaiting(step);
    this.#count(step.frame);
  }

  /** A Parallel that failed in an earlier life: of its tasks those go on that had ended before. */
  #failAgain(step: Step, { output, handle }: Past): void {
    const { past } = this.#options;
    step.isOpened = true;
    this.#decideEdges(step, (edge) => !isErrorEdge(edge));
    step.state = 'failed';
    this.#dropTasks(step, ({ nodeId, iteration }) => past(nodeId, iteration)?.kind === 'done');
    this.#end(step, output, handle);
  }

  /** Decides the edges that leave a node that ended or was skipped. */
  #leave(step: Step): void {
    this.#decideEdges(step);
    this.#tellWaiting(step);
    this.#count(step.frame);
  }

  #decideEdges(step: Step, isMeant: (edge: PlannedEdge) => boolean = () => true): void {
    const { shape, frame } = step;
    for (const edge of shape.outgoing) {
      if (!isMeant(edge)) continue;
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
      if (parallel.taskCount === 0 && parallel.state === 'active') this.#closeParallel(parallel);
    }
  }

  /** Ends the tasks of a Parallel that have not ended, less those that are kept. */
  #dropTasks(parallel: Step, isKept: (task: Step) => boolean): void {
    for (const nodeId of parallel.shape.planned.tasks ?? []) {
      const task = parallel.frame.steps.get(nodeId);
      if (!task || task.hasEnded || isKept(task)) continue;
      if (task.state === 'pending') {
        this.#skip(task);
        continue;
      }
      this.#drop(task);
      this.#leave(task);
    }
  }

  #dropRounds(loop: Step): void {
    for (const { steps } of loop.rounds?.frames ?? []) {
      for (const step of steps.values()) if (!step.hasEnded) this.#drop(step);
    }
    loop.rounds = undefined;
  }

  /** Ends a node and what it runs; what follows it is not told. */
  #drop(step: Step): void {
    const { state } = step;
    this.#dropRounds(step);
    if (state === 'parked') this.#parkedCount -= 1;
    step.isDropped = true;
    step.state = 'skipped';
    const hasBegun = state === 'ready' || state === 'active' || state === 'parked';
    if (hasBegun) this.#moves.push({ kind: 'cancelled', step });
  }

  #decide(step: Step): void {
    step.openCount -= 1;
    if (step.openCount === 0) this.#decided.push(step);
  }

  #count(frame: Frame): void {
    frame.openCount -= 1;
    if (frame.openCount === 0 && frame.round) this.#loops.endRound(frame);
  }

  #openParallel(step: Step): void {
    step.state = 'active';
    step.isOpened = true;
    this.#moves.push({ kind: 'opened', step });
    for (const nodeId of step.shape.planned.tasks ?? []) {
      const task = step.frame.steps.get(nodeId);
      if (!task || task.hasEnded) continue;
      task.watchers.push(step);
      step.taskCount += 1;
    }
    this.#decideEdges(step, (edge) => !isErrorEdge(edge));
    if (step.taskCount === 0) this.#closeParallel(step);
  }

  #closeParallel(step: Step): void {
    const tasks = step.shape.planned.tasks ?? [];
    const results = tasks.map((nodeId) => step.frame.steps.get(nodeId)?.output ?? null);
    this.#close(step, { results }, undefined);
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
