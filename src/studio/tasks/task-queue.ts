import { nothing } from './agent-loads.ts';
import type { OpenTask } from './stored-task.ts';
import { taskPriorities } from './task.ts';

/** Tasks that any of the same agents can do, the next one first. */
export interface Lane {
  /** What its tasks have in common. */
  readonly key: string;
  readonly tasks: OpenTask[];
  /** When an agent that can do them was last seen, busy or not. */
  ableAtMs: number;
}

/** What came of trying to place a lane's next task. */
export type Placed = 'placed' | 'blocked';

/**
 * Tasks by priority and age: each level of priority is worth a third of the ageing time, so that a task
 * of low priority waits behind critical ones only that came at most the ageing time after it.
 */
export class TaskQueue {
  readonly #levelMs: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #laneOf = new Map<string, Lane>();

  constructor(ageingMs: number) {
    this.#levelMs = ageingMs / (taskPriorities.length - 1);
  }

  get size(): number {
    return this.#laneOf.size;
  }

  /** Those that are not empty. */
  lanes(): Iterable<Lane> {
    return this.#lanes.values();
  }

  has(taskId: string): boolean {
    return this.#laneOf.has(taskId);
  }

  add(task: OpenTask): void {
    if (this.#laneOf.has(task.id)) return;
    const lane = this.#laneFor(task);
    lane.tasks.splice(this.#placeOf(task, lane.tasks), 0, task);
    this.#laneOf.set(task.id, lane);
  }

  remove(taskId: string): void {
    const lane = this.#laneOf.get(taskId);
    if (!lane) return;
    this.#laneOf.delete(taskId);
    lane.tasks.splice(
      lane.tasks.findIndex(({ id }) => id === taskId),
      1,
    );
    if (lane.tasks.length === 0) this.#lanes.delete(lane.key);
  }

  /**
   * Offers tasks in their order until each lane is empty or blocked. Whoever places a task has taken it
   * from the queue; a lane that is blocked is not asked again.
   */
  drain(place: (task: OpenTask, lane: Lane) => Placed): void {
    const open = [...this.#lanes.values()].toSorted((a, b) => this.#compareLanes(a, b));
    for (let lane = open.shift(); lane; lane = open.shift()) {
      const [head] = lane.tasks;
      if (!head || place(head, lane) === 'blocked') continue;
      this.remove(head.id);
      const rest = lane;
      if (rest.tasks.length === 0) continue;
      const at = open.findIndex((other) => this.#compareLanes(rest, other) <= 0);
      open.splice(at === -1 ? open.length : at, 0, rest);
    }
  }

  #laneFor(task: OpenTask): Lane {
    const key = laneKeyOf(task);
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = { key, tasks: [], ableAtMs: 0 };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  #placeOf(task: OpenTask, tasks: readonly OpenTask[]): number {
    let [low, high] = [0, tasks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = tasks[middle];
      if (other && this.#compare(other, task) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compareLanes({ tasks: [a] }: Lane, { tasks: [b] }: Lane): number {
    return a && b ? this.#compare(a, b) : 0;
  }

  #compare(a: OpenTask, b: OpenTask): number {
    return this.#rankOf(a) - this.#rankOf(b) || (a.id < b.id ? -1 : 1);
  }

  /** Does not change with time: ageing moves all tasks alike. */
  #rankOf({ createdAtMs, priority }: OpenTask): number {
    return createdAtMs - taskPriorities.indexOf(priority) * this.#levelMs;
  }
}

function laneKeyOf({ type, wantedAgent, workspaceId, ownerId, requirements }: OpenTask): string {
  const { capabilities, resources = nothing } = requirements;
  const owner = workspaceId === undefined ? ownerId : '';
  const { cpu, memory } = resources;
  return JSON.stringify([
    type,
    wantedAgent,
    workspaceId,
    owner,
    capabilities.toSorted(),
    cpu,
    memory,
  ]);
}
