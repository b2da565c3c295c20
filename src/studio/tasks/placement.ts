import type { Agent } from '../agents/agent.ts';
import { nothing, type AgentLoads } from './agent-loads.ts';
import type { OpenTask } from './stored-task.ts';
import type { TaskWait } from './task.ts';

export interface Room {
  readonly loads: AgentLoads;
  /** Tasks of an agent at the same time. */
  readonly agentTasksMax: number;
}

/** Sums of fractions are not exact. */
const tolerance = 1e-9;

/**
 * Who can do a task when nothing else is done: of its workspace, without one its owner's that belong to
 * none, with all the capabilities, and as large as it must be. Where some name the task's type among
 * their capabilities, only these.
 */
export function ableAgents(task: OpenTask, running: readonly Agent[]): readonly Agent[] {
  const able = running.filter((agent) => isAble(agent, task));
  const skilled = able.filter(({ capabilities }) => capabilities.includes(task.type));
  return skilled.length > 0 ? skilled : able;
}

/** The least busy of the able agents that has room now. */
export function chooseAgent(
  task: OpenTask,
  able: readonly Agent[],
  { loads, agentTasksMax }: Room,
): Agent | undefined {
  let best: Agent | undefined;
  for (const agent of able) {
    if (!hasRoom(agent, task, { loads, agentTasksMax })) continue;
    if (!best || loads.of(agent.id).count < loads.of(best.id).count) best = agent;
  }
  return best;
}

/** Why a queued task has not begun; undefined when it is about to. */
export function waitOf(
  task: OpenTask,
  running: readonly Agent[],
  room: Room,
): TaskWait | undefined {
  if (task.type === 'deploy') return undefined;
  const able = ableAgents(task, running);
  if (able.length === 0) return task.wantedAgent === undefined ? noAgent : agentNotRunning;
  return chooseAgent(task, able, room) ? undefined : agentsBusy;
}

/** What of a task's capabilities an agent lacks. */
export function missingCapabilities(
  { capabilities }: Pick<Agent, 'capabilities'>,
  wanted: readonly string[],
): readonly string[] {
  return wanted.filter((capability) => !capabilities.includes(capability));
}

function isAble(agent: Agent, task: OpenTask): boolean {
  const { wantedAgent, workspaceId, ownerId, requirements } = task;
  const { capabilities, resources = nothing } = requirements;
  if (wantedAgent !== undefined && wantedAgent !== agent.id) return false;
  if (agent.workspaceId !== workspaceId) return false;
  const isShared = workspaceId !== undefined || wantedAgent !== undefined;
  if (!isShared && agent.ownerId !== ownerId) return false;
  if (missingCapabilities(agent, capabilities).length > 0) return false;
  return resources.cpu <= agent.resources.cpu && resources.memory <= agent.resources.memory;
}

function hasRoom(agent: Agent, task: OpenTask, { loads, agentTasksMax }: Room): boolean {
  const { resources = nothing } = task.requirements;
  const { count, cpu, memory } = loads.of(agent.id);
  return (
    count < agentTasksMax &&
    cpu + resources.cpu <= agent.resources.cpu + tolerance &&
    memory + resources.memory <= agent.resources.memory
  );
}

const noAgent: TaskWait = {
  reason: 'no_agent',
  message: 'no agent runs that may do it, has the capabilities and is large enough',
};
const agentNotRunning: TaskWait = {
  reason: 'agent_not_running',
  message: 'the agent does not run now; the task waits for it',
};
const agentsBusy: TaskWait = {
  reason: 'agents_busy',
  message: 'the agents that can do it are busy with other tasks',
};
