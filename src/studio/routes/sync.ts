import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { SocketHandlers } from '../../kit/sockets/socket-handlers.ts';
import type { studioContract } from '../contract.ts';
import type { syncRoutes as routes } from '../schemas/sync.ts';
import { SyncSession, type SyncParts } from '../sync/sync-session.ts';
import type { Permission, Workspace } from '../workspaces/workspace.ts';
import { contentHandlers } from './sync-contents.ts';

type Handlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

const workspacesMax = 100;

/** The edge of synchronisation, but for its stream. */
export function syncHandlers(parts: SyncParts): Handlers {
  const { workspaces, files, devices } = parts;
  const isAllowed = (identity: Identity, id: string, permission: Permission) =>
    workspaces.require(identity, id, permission).then(
      () => true,
      (error: unknown) => {
        if (['forbidden', 'not_found'].includes(Fault.from(error).code)) return false;
        throw error;
      },
    );
  const asked = async (
    identity: Identity,
    workspaceId: string | undefined,
    permission: Permission,
  ): Promise<readonly Workspace[]> => {
    if (workspaceId !== undefined) {
      return [await workspaces.require(identity, workspaceId, permission)];
    }
    const { workspaces: own } = await workspaces.list(identity, {
      limit: workspacesMax,
      offset: 0,
    });
    const allowed: Workspace[] = [];
    for (const one of own) if (await isAllowed(identity, one.id, permission)) allowed.push(one);
    return allowed;
  };
  return {
    ...contentHandlers(parts),
    syncStatus: async ({ identity, query }) => {
      const answers = [];
      for (const { id } of await asked(identity, query.workspaceId, 'workspace:read')) {
        const lastSeq = await files.lastSeq(id);
        const seen = await devices.of(id);
        answers.push({
          workspaceId: id,
          lastSeq,
          usedBytes: await files.usage(id),
          devices: seen.map(({ deviceId, userId, isConnected, lastSeq: own, seenAtMs }) => ({
            deviceId,
            userId,
            connected: isConnected,
            lastSeq: own,
            pending: Math.max(0, lastSeq - own),
            lastSeenAt: new Date(seenAtMs).toISOString(),
          })),
        });
      }
      return { workspaces: answers };
    },
    forceSync: async ({ identity, body }) => {
      const answers = [];
      for (const { id } of await asked(identity, body.workspaceId, 'code:read')) {
        const found = await files.rescan(id);
        answers.push({ workspaceId: id, ...found, lastSeq: await files.lastSeq(id) });
      }
      return { workspaces: answers };
    },
  };
}

/** The stream of synchronisation. */
export function syncSocketHandlers(
  parts: SyncParts,
): Pick<SocketHandlers<typeof studioContract>, 'syncStream'> {
  return {
    syncStream: (connection) => {
      const session = new SyncSession(connection, parts);
      connection.onMessage((text) => session.receive(text));
      connection.signal.addEventListener('abort', () => session.close(), { once: true });
      session.beginByQuery();
    },
  };
}
