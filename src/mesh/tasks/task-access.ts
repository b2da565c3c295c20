import { Fault } from '../../kit/errors.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import { isFinished, type TaskRecord } from './task-record.ts';
import type { MeshTaskRunner } from './task-runner.ts';

export interface TaskReader {
  readonly subject: string;
  readonly isAdmin: boolean;
}

export interface TaskReading extends TaskReader {
  /** How long to wait for the task's end. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

export interface TaskAccessOptions {
  readonly tasks: Pick<MeshTaskRunner, 'read' | 'finished' | 'cancel'>;
  readonly directory: Pick<AgentDirectory, 'find'>;
}

/** Tasks for those who may see them; for all others there are none. */
export class TaskAccess {
  readonly #options: TaskAccessOptions;

  constructor(options: TaskAccessOptions) {
    this.#options = options;
  }

  /** For who asked and for the agent's owner; `not_found` (`task_not_found`) else. */
  async read(taskId: string, reading: TaskReading): Promise<TaskRecord> {
    const { waitMs, signal } = reading;
    const record = await this.#seen(taskId, reading);
    if (isFinished(record) || waitMs === 0) return record;
    const wait = { waitMs, ...(signal && { signal }) };
    return (await this.#options.tasks.finished(taskId, wait)) ?? record;
  }

  /** For who asked; throws `conflict` (`task_finished`) when it has ended. */
  async cancel(taskId: string, reader: TaskReader): Promise<TaskRecord> {
    const record = await this.#seen(taskId, reader);
    if (record.askedBy !== reader.subject && !reader.isAdmin) {
      throw new Fault('forbidden', 'only who asked for a task calls it off', {
        reason: 'not_task_owner',
        detail: { taskId },
      });
    }
    if (isFinished(record) || !(await this.#options.tasks.cancel(taskId))) {
      const { status } = (await this.#options.tasks.read(taskId)) ?? record;
      throw new Fault('conflict', 'the task has ended', {
        reason: 'task_finished',
        detail: { taskId, status },
      });
    }
    return (await this.#options.tasks.read(taskId)) ?? record;
  }

  async #seen(taskId: string, { subject, isAdmin }: TaskReader): Promise<TaskRecord> {
    const record = await this.#options.tasks.read(taskId);
    const isSeen =
      record &&
      (isAdmin ||
        record.askedBy === subject ||
        (record.ownerId === subject &&
          this.#options.directory.find(record.agentId)?.ownerId === subject));
    if (record && isSeen) return record;
    throw new Fault('not_found', 'there is no such task', {
      reason: 'task_not_found',
      detail: { taskId },
    });
  }
}
