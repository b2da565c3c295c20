import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { Agents } from '../agents/agent.ts';
import type { Workspaces } from '../workspaces/workspace.ts';
import type { StoredTask } from './stored-task.ts';
import { taskNotFound } from './task-faults.ts';

export interface TaskAccessParts {
  readonly agents: Pick<Agents, 'require'>;
  readonly workspaces: Pick<Workspaces, 'require'>;
}

/** Who sees and calls off which tasks: by the workspace, without one the owner and by the agent. */
export class TaskAccess {
  readonly #parts: TaskAccessParts;

  constructor(parts: TaskAccessParts) {
    this.#parts = parts;
  }

  /** Throws `not_found` of what the caller may not see, `forbidden` of what it sees but may not do. */
  async require(
    identity: Identity,
    { id, workspaceId, ownerId, wantedAgent, assignedAgent }: StoredTask,
    permission: 'view' | 'execute',
  ): Promise<void> {
    if (allows(identity.permissions, 'studio:admin')) return;
    const { agents, workspaces } = this.#parts;
    try {
      if (workspaceId !== undefined) {
        await workspaces.require(identity, workspaceId, `agents:${permission}`);
        return;
      }
      if (ownerId === identity.subject) return;
      const agentId = assignedAgent ?? wantedAgent;
      if (agentId === undefined) throw taskNotFound(id);
      await agents.require(identity, agentId, permission);
    } catch (error) {
      throw error instanceof Fault && error.code === 'not_found' ? taskNotFound(id) : error;
    }
  }
}
