import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { orchestrationLimits } from '../schemas/orchestrations.ts';
import { jsonBytes } from '../json-size.ts';
import type { FoundAgent } from './agent-finder.ts';
import { parallelMax } from './orchestration-run.ts';
import type { OrchestrationRequest } from './orchestration.ts';
import { givenBytesMax } from './step-task.ts';
import { toStorableText } from '../../kit/storable-json.ts';
import type { StoredOrchestration, StoredStep } from './stored-orchestration.ts';

/** Throws `invalid` for what no edge lets through, and `too_large` for what no agent could be handed. */
export function checkRequest({ task, agents, timeoutMs, context }: OrchestrationRequest): void {
  const { taskLengthMax, agentsMax, timeoutMsMax } = orchestrationLimits;
  if (task.trim() === '' || task.length > taskLengthMax) {
    throw invalid('task', `a task has 1 to ${taskLengthMax} characters`);
  }
  if (agents.length === 0 || agents.length > agentsMax) {
    throw invalid('agents', `an orchestration has 1 to ${agentsMax} agents`);
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > timeoutMsMax) {
    throw invalid('options.timeout', `the timeout is 1 to ${timeoutMsMax} milliseconds`);
  }
  if (jsonBytes({ task, context }, givenBytesMax) > givenBytesMax) throw contextTooLarge();
}

/** A new one, whose first parts run already. */
export function newOrchestration(
  { task, context = {}, isParallel, timeoutMs }: OrchestrationRequest,
  agents: readonly FoundAgent[],
  { ownerId, replica }: Pick<StoredOrchestration, 'ownerId' | 'replica'>,
): StoredOrchestration {
  const createdAtMs = Date.now();
  const width = isParallel ? parallelMax : 1;
  const toStep = (agent: FoundAgent, index: number): StoredStep => {
    const step = { ...agent, place: index + 1 };
    if (index >= width) return { ...step, status: 'pending' };
    return { ...step, status: 'running', startedAtMs: createdAtMs };
  };
  return {
    id: newId('orc'),
    ownerId,
    task: toStorableText(task),
    // As it is read again, so that a repetition asks for the same.
    context: JSON.parse(JSON.stringify(context)) as Readonly<Record<string, unknown>>,
    isParallel,
    status: 'running',
    createdAtMs,
    deadlineAtMs: createdAtMs + timeoutMs,
    replica,
    epoch: 1,
    steps: agents.map(toStep),
  };
}

function contextTooLarge(): Fault {
  const most = `task and context measure at most ${givenBytesMax} bytes of JSON together`;
  return new Fault('too_large', most, { reason: 'context_too_large' });
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid', message, { reason: 'validation_error', detail: { param } });
}
