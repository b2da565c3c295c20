import type { Bus, Subscription } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import type { Log } from '../../kit/log.ts';
import { tasksTopic } from '../events.ts';
import { toOpen, type OpenTask } from './stored-task.ts';
import type { StudioTask } from './task.ts';

/** A task as others are told of it. */
export interface ToldTask extends OpenTask, Pick<StudioTask, 'result' | 'artefacts'> {}

interface News {
  readonly tasks: readonly ToldTask[];
}

export interface TaskNewsOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly onTasks: (tasks: readonly ToldTask[]) => void;
  /** Something may have been missed. */
  readonly onGap: () => void;
}

/** Well below what an event may hold. */
const eventLengthMax = 256 * 1_024;
/** Of result and artefacts of one task. */
const outcomeLengthMax = 64 * 1_024;

/** Tells the other replicas of tasks, and hears of theirs; one's own news comes back too. */
export class TaskNews implements AsyncDisposable {
  readonly #options: TaskNewsOptions;
  readonly #outlet: Outlet<News>;
  #subscription: Subscription | undefined;

  constructor(options: TaskNewsOptions) {
    const { bus, log } = options;
    this.#options = options;
    this.#outlet = new Outlet({ topic: bus.topic<News>(tasksTopic), what: 'news of tasks', log });
  }

  async start(): Promise<void> {
    const { onTasks, onGap } = this.#options;
    this.#subscription = await this.#outlet.topic.subscribe(({ data }) => onTasks(data.tasks), {
      onGap,
    });
  }

  tell(tasks: readonly ToldTask[]): void {
    for (const portion of portionsOf(tasks)) this.#outlet.tell({ tasks: portion });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
    await this.#outlet[Symbol.asyncDispose]();
  }
}

/** What is told of a task: large outcomes stay where they are. */
export function toTold(task: ToldTask): ToldTask {
  const { result, artefacts } = task;
  if (!result || JSON.stringify([result, artefacts]).length > outcomeLengthMax) return toOpen(task);
  return { ...toOpen(task), result, ...(artefacts && { artefacts }) };
}

function portionsOf(tasks: readonly ToldTask[]): ToldTask[][] {
  const portions: ToldTask[][] = [];
  let length = Infinity;
  for (const task of tasks) {
    const own = JSON.stringify(task).length;
    if (length + own > eventLengthMax) {
      portions.push([]);
      length = 0;
    }
    portions.at(-1)?.push(task);
    length += own;
  }
  return portions;
}
