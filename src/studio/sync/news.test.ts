import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import type { StudioTask } from '../tasks/task.ts';
import type { Workspace } from '../workspaces/workspace.ts';
import { startStudio } from '../testing.ts';
import { SyncSession, type SyncParts } from './sync-session.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;

beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio[Symbol.asyncDispose]());

/** Something that can be listened to and told. */
function makeSource<T>() {
  const listeners = new Set<(one: T) => void>();
  return {
    tell: (one: T) => listeners.forEach((listener) => listener(one)),
    listen: (listener: (one: T) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

test('agents and tasks are told to those who may see them, and to nobody else', async () => {
  const agents = makeSource<Agent>();
  const tasks = makeSource<StudioTask>();
  const follow = async (subject: string, role: 'Viewer' | 'Guest') => {
    const heard: { type: string; data: { agentId?: string; taskId?: string } }[] = [];
    const identity = await studio.host.authenticator.identify(await studio.tokenOf(subject));
    const connection = {
      identity,
      query: new URLSearchParams(),
      signal: new AbortController().signal,
      send: (message: (typeof heard)[number]) => heard.push(message) > 0,
      sendFault: () => true,
      room: async () => {},
      close: () => {},
    };
    const parts = {
      agents,
      tasks,
      workspaces: {
        listen: () => () => {},
        require: async (_: unknown, id: string, permission: string) => {
          if (role === 'Guest' && permission === 'agents:view') throw new Error('not for guests');
          return { id } as Workspace;
        },
      },
      devices: { listen: () => () => {} },
      files: {
        lastSeq: async () => 0,
        changes: async () => [],
        listen: () => () => {},
        watch: () => () => {},
      },
    };
    // Only what a subscription asks of them is there.
    const session = new SyncSession(
      connection as unknown as Connection,
      parts as unknown as SyncParts,
    );
    await session.receive(JSON.stringify({ action: 'subscribe', workspaceId: 'wsp_1' }));
    return { heard, close: () => session.close() };
  };
  const viewer = await follow('usr_viewer', 'Viewer');
  const guest = await follow('usr_guest', 'Guest');
  const agent = { id: 'agt_1', ownerId: 'usr_x', status: 'running', restarts: 0 } as Agent;
  const task = { id: 'tsk_1', ownerId: 'usr_x', status: 'running' } as StudioTask;
  agents.tell({ ...agent, workspaceId: 'wsp_1' });
  agents.tell({ ...agent, id: 'agt_2', workspaceId: 'wsp_2' });
  agents.tell({ ...agent, id: 'agt_3', ownerId: 'usr_guest' });
  tasks.tell({ ...task, workspaceId: 'wsp_1', assignedAgent: 'agt_1' });
  tasks.tell({ ...task, workspaceId: 'wsp_1', status: 'completed' });
  await expect
    .poll(() => viewer.heard)
    .toMatchObject([
      { type: 'agent_status', workspaceId: 'wsp_1', data: { agentId: 'agt_1', status: 'running' } },
      { type: 'agent_status', data: { agentId: 'agt_1', task: { taskId: 'tsk_1' } } },
      { type: 'task_complete', data: { taskId: 'tsk_1', status: 'completed' } },
    ]);
  expect(guest.heard).toMatchObject([{ type: 'agent_status', data: { agentId: 'agt_3' } }]);
  viewer.close();
  agents.tell({ ...agent, workspaceId: 'wsp_1' });
  expect(viewer.heard).toHaveLength(3);
});
