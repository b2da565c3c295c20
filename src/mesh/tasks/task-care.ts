import type { Log } from '../../kit/log.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import type { TaskJournal } from './task-journal.ts';
import { agentGoneFault, type EndedTask } from './task-record.ts';
import { type TaskRun, leaseMs } from './task-run.ts';
import type { WaitingTask } from './waiting-store.ts';

export interface TaskCareOptions {
  /** What is under way here, by id. */
  readonly runs: ReadonlyMap<string, TaskRun>;
  readonly journal: Pick<TaskJournal, 'renew' | 'adopt' | 'endAbandoned'>;
  readonly directory: Pick<AgentDirectory, 'find'>;
  readonly log: Log;
  /** Goes on with a task that another process left. */
  readonly takeUp: (task: WaitingTask) => void;
  /** Hears of the end of a task that another process left. */
  readonly tell: (ended: EndedTask) => void;
}

const everyMs = leaseMs / 3;

/**
 * Every few seconds: says that this process works on its tasks, ends those whose agents have gone, and takes
 * over what processes left that have ended, or ends it where an agent was asked.
 */
export class TaskCare implements Disposable {
  readonly #options: TaskCareOptions;
  readonly #timer: NodeJS.Timeout;
  /** Whether the database answered the last time: then others could say that they work on their tasks. */
  #wasAnswered = false;

  constructor(options: TaskCareOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), everyMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    this.#endOrphans();
    await this.#renew();
    await this.#takeOver();
  }

  /** Nobody may have told that an agent went. */
  #endOrphans(): void {
    const { runs, directory } = this.#options;
    for (const run of runs.values()) {
      const { agentId, ownerId } = run;
      const isHeld = ownerId === '' || directory.find(agentId)?.ownerId === ownerId;
      if (!isHeld) run.abort(agentGoneFault(agentId));
    }
  }

  async #renew(): Promise<void> {
    const { runs, journal } = this.#options;
    const held = [...runs.values()].filter(({ isDurable, isInbox }) => isDurable && !isInbox);
    if (held.length > 0) await journal.renew(held.map(({ taskId }) => taskId));
  }

  async #takeOver(): Promise<void> {
    const { journal, takeUp, tell, log } = this.#options;
    const wasAnswered = this.#wasAnswered;
    this.#wasAnswered = false;
    try {
      for (const task of await journal.adopt()) takeUp(task);
      if (wasAnswered) for (const ended of await journal.endAbandoned()) tell(ended);
      this.#wasAnswered = true;
    } catch (err) {
      log.warn({ err }, 'tasks of processes that have ended could not be taken over');
    }
  }
}
