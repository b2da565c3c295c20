import type { Agent } from '../agents/agent.ts';
import type { TaskFailure } from './task.ts';

/** Why an agent cannot do a task any more, or not now: the task's failure if nothing else does it. */
export function lossOf(agent: Agent | undefined): TaskFailure {
  if (!agent) return { code: 'agent_lost', message: 'the agent is not there any more' };
  const { id, status, failure } = agent;
  if (status === 'expired') {
    return { code: 'agent_expired', message: `the time of the agent ${id} was over` };
  }
  if (status === 'stopped' || status === 'stopping') {
    return { code: 'agent_stopped', message: `the agent ${id} was stopped` };
  }
  if (!failure) return { code: 'agent_lost', message: `the agent ${id} ended` };
  const code = failure.reason === 'lost' ? 'agent_lost' : `agent_${failure.reason}`;
  return { code, message: `the agent ${id} failed: ${failure.message}` };
}
