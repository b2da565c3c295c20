import type { AgentProgress } from './orchestration.ts';
import { hasEnded, type StoredOrchestration, type StoredStep } from './stored-orchestration.ts';

/** What whoever watches a step's agent is told. The mesh tells of a task that it runs, and that it ended. */
export function progressOf(
  { id, ownerId }: StoredOrchestration,
  step: StoredStep,
  steps: readonly StoredStep[],
): AgentProgress {
  const { agentId, place, taskId = `${id}:${place}`, status, error } = step;
  const count = steps.filter(hasEnded).length;
  const whole = `${count} of ${steps.length} parts of ${id} have ended`;
  return {
    agentId,
    taskId,
    progress: hasEnded(step) ? 1 : 0,
    status,
    message: error ? `${error.message}; ${whole}` : whole,
    ownerId,
  };
}
