import type { Agent } from '../agents/agent.ts';
import type { OpenTask } from './stored-task.ts';
import type { ToldTask } from './task-news.ts';
import type { TaskFailure } from './task.ts';

/** The task as its next attempt begins. */
export function nextAttempt(task: OpenTask): OpenTask {
  const { attempt, version } = task;
  return {
    ...task,
    status: 'assigned',
    attempt: attempt + 1,
    version: version + 1,
    startedAtMs: Date.now(),
  };
}

/** The task as it waits for another attempt. */
export function queuedAgain(task: OpenTask): OpenTask {
  const { assignedAgent: _agent, agentRestarts: _restarts, runId: _run, ...rest } = task;
  return { ...rest, status: 'queued', version: task.version + 1 };
}

/** The task as it ends in vain. */
export function ended(task: OpenTask, failure: TaskFailure): ToldTask {
  const version = task.version + 1;
  return { ...task, version, status: 'failed', failure, endedAtMs: Date.now() };
}

/** Whether the agent does nothing any more. */
export function hasEndedForGood({ status }: Agent): boolean {
  return status === 'stopped' || status === 'expired' || status === 'failed';
}

/** Whether it is still the process that got the task. */
export function isSameProcess(agent: Agent, { agentRestarts }: OpenTask): boolean {
  const { status, restarts } = agent;
  return (
    restarts === (agentRestarts ?? restarts) && (status === 'running' || status === 'stopping')
  );
}
