import type { StepTask } from './step-tasks.ts';
import { hasEnded, type StoredOrchestration, type StoredStep } from './stored-orchestration.ts';

/** The mesh's own clock goes on a little, so that it is the run that ends what is late. */
const graceMs = 5_000;
const timeoutMsMax = 60 * 60_000;

/** The task of a step, made of what is stored only: whoever makes it again makes the same. */
export function taskOf(
  { id, task, context, isParallel, deadlineAtMs, createdAtMs }: StoredOrchestration,
  { place, agentId, taskType, startedAtMs = createdAtMs }: StoredStep,
  steps: readonly StoredStep[],
): StepTask {
  const leftMs = Math.max(1, deadlineAtMs - startedAtMs);
  const earlier = isParallel ? [] : steps.filter((step) => step.place < place && hasEnded(step));
  const results = earlier.map(toResult);
  return {
    key: `${id}:${place}`,
    agentId,
    type: taskType,
    input: {
      prompt: task,
      context: results.length === 0 ? context : { ...context, results },
      orchestration: { id, step: place, steps: steps.length },
    },
    timeoutMs: Math.min(timeoutMsMax, leftMs + graceMs),
  };
}

function toResult({ agentId, name, status, result, error }: StoredStep) {
  return {
    agent: agentId,
    name,
    status,
    ...(result !== undefined && { result }),
    ...(error && { error }),
  };
}
