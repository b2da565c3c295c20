import { bodyBytesMaxOf } from '../../kit/contract.ts';
import { meshContract } from '../../mesh/contract.ts';
import { jsonBytes } from '../json-size.ts';
import { earlierResults } from './earlier-results.ts';
import type { StepTask } from './step-tasks.ts';
import { hasEnded, type StoredOrchestration, type StoredStep } from './stored-orchestration.ts';

/** The mesh's own clock goes on a little, so that it is the run that ends what is late. */
const graceMs = 5_000;
const timeoutMsMax = 60 * 60_000;
/** What the mesh takes, and hands on to an agent with words of its own around it. */
const bodyBytesMax = bodyBytesMaxOf(meshContract.routes.executeTask) - 32 * 1024;

/** What a task and its context may be of that: what is left is for the results of earlier parts. */
export const givenBytesMax = bodyBytesMax - 128 * 1024;

/** The task of a step, made of what is stored only: whoever makes it again makes the same. */
export function taskOf(
  { id, task, context, isParallel, deadlineAtMs, createdAtMs }: StoredOrchestration,
  { place, agentId, taskType, startedAtMs = createdAtMs }: StoredStep,
  steps: readonly StoredStep[],
): StepTask {
  const leftMs = Math.max(1, deadlineAtMs - startedAtMs);
  const earlier = isParallel ? [] : steps.filter((step) => step.place < place && hasEnded(step));
  const orchestration = { id, step: place, steps: steps.length };
  const rest = jsonBytes({ task, context, orchestration, agentId, taskType }, Infinity);
  const results = earlierResults(earlier, bodyBytesMax - rest);
  return {
    key: `${id}:${place}`,
    agentId,
    type: taskType,
    input: {
      prompt: task,
      context: results.length === 0 ? context : { ...context, results },
      orchestration,
    },
    timeoutMs: Math.min(timeoutMsMax, leftMs + graceMs),
  };
}
