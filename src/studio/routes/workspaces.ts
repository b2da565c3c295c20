import type { Handler } from '../../kit/http/call.ts';
import type { workspaceRoutes as routes } from '../schemas/workspaces.ts';
import type { Workspace, Workspaces } from '../workspaces/workspace.ts';

type Handlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of the workspaces. */
export function workspaceHandlers(workspaces: Workspaces): Handlers {
  return {
    createWorkspace: async ({ body, identity }) => shown(await workspaces.create(identity, body)),
    listWorkspaces: async ({ query, identity }) => {
      const { workspaces: found, total } = await workspaces.list(identity, query);
      return { workspaces: found.map(shown), total, ...query };
    },
    readWorkspace: async ({ params, identity }) =>
      shown(await workspaces.require(identity, params.id, 'workspace:read')),
    changeWorkspace: async ({ params, body, identity }) =>
      shown(await workspaces.change(identity, params.id, body)),
    deleteWorkspace: async ({ params, identity }) => {
      await workspaces.remove(identity, params.id);
      return { id: params.id, deleted: true as const };
    },
  };
}

function shown({ createdAtMs, updatedAtMs, ...workspace }: Workspace) {
  const { members, settings } = workspace;
  const { testCommand, tools, ...others } = settings;
  return {
    ...workspace,
    members: [...members],
    settings: {
      ...others,
      ...(testCommand ? { testCommand: [...testCommand] } : {}),
      ...(tools ? { tools: [...tools] } : {}),
    },
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
  };
}
