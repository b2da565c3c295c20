import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { workspaceRoutes as routes } from '../schemas/workspaces.ts';
import type { Workspace, Workspaces } from '../workspaces/workspace.ts';

type Handlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of the workspaces. */
export function workspaceHandlers(workspaces: Workspaces): Handlers {
  const shownTo = (identity: Identity, workspace: Workspace) => {
    const seesSettings = workspaces.allows(identity, workspace, 'settings:view');
    return { ...shown(workspace), ...(seesSettings && { settings: shownSettings(workspace) }) };
  };
  return {
    createWorkspace: async ({ body, identity }) =>
      shownTo(identity, await workspaces.create(identity, body)),
    listWorkspaces: async ({ query, identity }) => {
      const { workspaces: found, total } = await workspaces.list(identity, query);
      return { workspaces: found.map((one) => shownTo(identity, one)), total, ...query };
    },
    readWorkspace: async ({ params, identity }) =>
      shownTo(identity, await workspaces.require(identity, params.id, 'workspace:read')),
    changeWorkspace: async ({ params, body, identity }) =>
      shownTo(identity, await workspaces.change(identity, params.id, body)),
    deleteWorkspace: async ({ params, identity }) => {
      await workspaces.remove(identity, params.id);
      return { id: params.id, deleted: true as const };
    },
  };
}

function shown(workspace: Workspace) {
  const { id, name, description, ownerId, members, path, createdAtMs, updatedAtMs } = workspace;
  return {
    id,
    name,
    ...(description === undefined ? {} : { description }),
    ownerId,
    members: [...members],
    path,
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
  };
}

function shownSettings({ settings: { testCommand, tools, ...others } }: Workspace) {
  return {
    ...others,
    ...(testCommand ? { testCommand: [...testCommand] } : {}),
    ...(tools ? { tools: [...tools] } : {}),
  };
}
