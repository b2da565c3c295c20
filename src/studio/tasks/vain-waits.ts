import type { Agents } from '../agents/agent.ts';
import { lossOf } from './agent-loss.ts';
import { ableAgents } from './placement.ts';
import type { OpenTask } from './stored-task.ts';
import type { Lane, TaskQueue } from './task-queue.ts';
import type { TaskFailure } from './task.ts';
import { hasEndedForGood } from './transitions.ts';

export interface VainWait {
  readonly task: OpenTask;
  readonly failure: TaskFailure;
}

/**
 * Tasks that wait for an agent that does not come back, or longer than they may for one that can do them.
 * Notes on each lane whether there is such an agent.
 */
export async function findVainWaits(
  queue: TaskQueue,
  agents: Pick<Agents, 'running' | 'find'>,
  waitMsMax: number,
): Promise<readonly VainWait[]> {
  const running = agents.running();
  const nowMs = Date.now();
  const unserved = [...queue.lanes()].filter((lane) => {
    const [head] = lane.tasks;
    if (!head || head.type === 'deploy') return false;
    if (ableAgents(head, running).length === 0) return true;
    lane.ableAtMs = nowMs;
    return false;
  });
  const found = unserved.map(async (lane) => {
    const wanted = lane.tasks[0]?.wantedAgent;
    if (wanted === undefined) return lateIn(lane, nowMs - waitMsMax);
    const agent = await agents.find(wanted);
    if (agent && !hasEndedForGood(agent)) return [];
    const failure = lossOf(agent);
    return lane.tasks.map((task) => ({ task, failure }));
  });
  return (await Promise.all(found)).flat();
}

function lateIn({ tasks, ableAtMs }: Lane, beforeMs: number): VainWait[] {
  if (ableAtMs > beforeMs) return [];
  const late = tasks.filter(({ createdAtMs }) => createdAtMs <= beforeMs);
  return late.map((task) => ({ task, failure: noAgent }));
}

const noAgent: TaskFailure = {
  code: 'no_agent',
  message: 'no agent that could do the task ran before its waiting time was over',
};
