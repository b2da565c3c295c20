import type { Agent } from '../agents/agent.ts';
import type { StudioTask } from '../tasks/task.ts';

/** What the stream says of something that is no file. */
export interface News {
  readonly type: 'agent_status' | 'task_complete';
  readonly data: object;
}

/** An agent's state, as devices are told of it. */
export function agentNews({ id: agentId, name, type, status, runtime, ...agent }: Agent): News {
  const { restarts, failure } = agent;
  const said = failure && { reason: failure.reason, message: failure.message };
  return {
    type: 'agent_status',
    data: {
      agentId,
      name,
      agentType: type,
      status,
      runtime,
      restarts,
      ...(said ? { failure: said } : {}),
    },
  };
}

/** The end of a task; each state before is one of its agent, where it has one. */
export function taskNews(task: StudioTask): News {
  const { id: taskId, type, priority, status, assignedAgent: agentId, attempt, failure } = task;
  const told = { taskId, type, priority, status, attempt };
  const own = agentId === undefined ? {} : { agentId };
  if (status !== 'completed' && status !== 'failed') {
    const agent = agentId === undefined ? {} : { status: 'running' };
    return { type: 'agent_status', data: { ...own, ...agent, task: told } };
  }
  const { artefacts = [], endedAtMs } = task;
  return {
    type: 'task_complete',
    data: {
      ...told,
      ...own,
      ...(failure ? { error: failure } : {}),
      artefacts: artefacts.map((one) =>
        one.kind === 'file' ? { kind: one.kind, path: one.path } : { kind: one.kind },
      ),
      ...(endedAtMs === undefined ? {} : { completedAt: new Date(endedAtMs).toISOString() }),
    },
  };
}
