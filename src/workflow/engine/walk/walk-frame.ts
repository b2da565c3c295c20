import type { Scope } from '../../flow/flow.ts';
import type { FlowShape, NodeShape } from './flow-shape.ts';
import { nodeKey } from '../journal/journal-row.ts';

/** One node in one iteration, on its way from waiting for its edges to its end. */
export class Step {
  readonly shape: NodeShape;
  readonly frame: Frame;
  /** `failed`: something around it goes on from its failure, and is about to end it. */
  state: 'pending' | 'ready' | 'active' | 'parked' | 'failed' | 'done' | 'skipped' = 'pending';
  /** It was ended with the Loop or the Parallel that ran it: what it comes to counts no more. */
  isDropped = false;
  /** Edges and Parallels that are still undecided. */
  openCount: number;
  takenCount = 0;
  output: unknown;
  handle: string | undefined;
  /** Told when this one has ended. */
  readonly watchers: Step[] = [];
  /** Of a Loop that runs. */
  rounds: Rounds | undefined;
  /** Of a Parallel: whether its tasks were told to begin. */
  isOpened = false;
  /** Of a Parallel that runs: tasks that have not ended. */
  taskCount = 0;

  constructor(shape: NodeShape, frame: Frame) {
    this.shape = shape;
    this.frame = frame;
    this.openCount = shape.incoming.length + shape.fromLoop.length + shape.awaits.length;
  }

  get nodeId(): string {
    return this.shape.planned.node.id;
  }

  get iteration(): string {
    return this.frame.iteration;
  }

  /** Its place in the journal. */
  get key(): string {
    return nodeKey(this.nodeId, this.iteration);
  }

  get hasEnded(): boolean {
    return this.state === 'done' || this.state === 'skipped';
  }
}

/** How far a Loop is. */
export interface Rounds {
  readonly items: readonly unknown[];
  readonly concurrency: number;
  readonly results: unknown[];
  /** Of the rounds that run. */
  readonly frames: Set<Frame>;
  nextIndex: number;
  endedCount: number;
}

export interface FrameOptions {
  readonly shapes: FlowShape;
  readonly inputs: Scope['inputs'];
  readonly execution: Scope['execution'];
}

/** The nodes of the whole flow, or of one round of a loop, and what they see of each other. */
export class Frame {
  readonly iteration: string;
  /** The Loop and the number of the round. */
  readonly round: { readonly loop: Step; readonly index: number } | undefined;
  readonly scope: Scope;
  readonly steps = new Map<string, Step>();
  readonly #outputs: Record<string, unknown>;
  openCount: number;

  constructor(options: FrameOptions, round?: { readonly loop: Step; readonly index: number }) {
    const { shapes, inputs, execution } = options;
    const nodes = shapes.get(round?.loop.nodeId ?? '') ?? [];
    const outer = round?.loop.frame;
    this.round = round;
    this.iteration = round ? [outer?.iteration, round.index].filter(isSaid).join('.') : '';
    // Outputs have the names of nodes, which are the users' own.
    this.#outputs = Object.assign(Object.create(null), outer?.scope.nodes);
    this.scope = {
      nodes: this.#outputs,
      inputs,
      execution,
      ...(round
        ? { loop: { item: round.loop.rounds?.items[round.index], index: round.index } }
        : {}),
    };
    for (const shape of nodes) this.steps.set(shape.planned.node.id, new Step(shape, this));
    this.openCount = this.steps.size;
  }

  keep(nodeId: string, output: unknown): void {
    this.#outputs[nodeId] = output;
  }
}

function isSaid(part: string | number | undefined): boolean {
  return part !== undefined && part !== '';
}
