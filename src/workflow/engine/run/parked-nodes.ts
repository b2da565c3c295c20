import type { NodeParked, Usage } from '../../components/component.ts';
import type { Clock } from '../clock.ts';
import { nodeKey } from '../journal/journal-row.ts';
import type { Step } from '../walk/walk-frame.ts';

/** A node that waits while its execution is in memory. */
export interface ParkedNode {
  readonly step: Step;
  /** `inner`: a Loop or a Parallel, which has to be over then. */
  readonly reason: NodeParked['reason'] | 'inner';
  readonly wakeAtMs: number | undefined;
  /** JSON with which a wait ends. */
  readonly output: string;
  readonly attempt: number;
  /** What it used before it was resumed. */
  readonly spent?: Usage | undefined;
}

/** The nodes of one run that wait, with one timer for the nearest. */
export class ParkedNodes {
  readonly #clock: Clock;
  readonly #onDue: (node: ParkedNode) => void;
  readonly #nodes = new Map<string, ParkedNode>();
  #callOff = () => {};
  #isStarted = false;

  constructor(clock: Clock, onDue: (node: ParkedNode) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  add(node: ParkedNode): void {
    this.#nodes.set(nodeKey(node.step.nodeId, node.step.iteration), node);
    this.#schedule();
  }

  /** Takes a node out; undefined when it does not wait. */
  take(nodeId: string, iteration: string): ParkedNode | undefined {
    const key = nodeKey(nodeId, iteration);
    const node = this.#nodes.get(key);
    this.#nodes.delete(key);
    return node;
  }

  steps(): Step[] {
    const waiting = [...this.#nodes.values()].filter(({ reason }) => reason !== 'inner');
    return waiting.map(({ step }) => step);
  }

  nearestWakeMs(): number | undefined {
    const times = [...this.#nodes.values()].flatMap(({ wakeAtMs }) => wakeAtMs ?? []);
    return times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) : undefined;
  }

  /** Wakes nodes from here on when their time has come. */
  start(): void {
    this.#isStarted = true;
    this.#schedule();
  }

  /** Takes the Loop or the Parallel whose time has been over the longest; undefined without any. */
  takeOverdue(): ParkedNode | undefined {
    const nowMs = this.#clock.nowMs();
    const [first] = [...this.#nodes.values()]
      .filter(({ reason, wakeAtMs }) => reason === 'inner' && (wakeAtMs ?? nowMs + 1) <= nowMs)
      .toSorted((a, b) => (a.wakeAtMs ?? 0) - (b.wakeAtMs ?? 0));
    return first && this.take(first.step.nodeId, first.step.iteration);
  }

  clear(): void {
    this.#callOff();
    this.#nodes.clear();
  }

  #schedule(): void {
    this.#callOff();
    if (!this.#isStarted) return;
    const nearestMs = this.nearestWakeMs();
    if (nearestMs === undefined) return;
    this.#callOff = this.#clock.after(nearestMs - this.#clock.nowMs(), () => this.#wakeDue());
  }

  #wakeDue(): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, node] of this.#nodes) {
      if (node.wakeAtMs === undefined || node.wakeAtMs > nowMs) continue;
      this.#nodes.delete(key);
      this.#onDue(node);
    }
    this.#schedule();
  }
}
