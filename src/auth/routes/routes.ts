import type { Handlers } from '../../kit/http/call.ts';
import type { Administrator } from '../accounts/administrator.ts';
import { toApiKey, toUser } from './answers.ts';
import { auditRoutes } from './audit.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import { keyRoutes } from './keys.ts';
import { metadataRoutes } from './metadata.ts';
import { oauthRoutes } from './oauth.ts';
import { roleRoutes } from './roles.ts';
import { secondFactorRoutes } from './second-factor.ts';
import { sessionRoutes } from './sessions.ts';
import { tokenRoutes } from './tokens.ts';

/** The HTTP edge of the authentication service. */
export function authRoutes(parts: AuthParts): Handlers<typeof authContract> {
  return {
    ...tokenRoutes(parts),
    ...userRoutes(parts),
    ...apiKeyRoutes(parts),
    ...keyRoutes(parts),
    ...oauthRoutes(parts),
    ...auditRoutes(parts),
    ...roleRoutes(parts),
    ...sessionRoutes(parts),
    ...secondFactorRoutes(parts),
    ...metadataRoutes(parts),
    ...suiteRoutes(parts),
  };
}

function userRoutes({ users }: AuthParts) {
  return {
    listUsers: async ({ query }) => {
      const { users: rows, total } = await users.list(query);
      const { limit, offset } = query;
      return { users: rows.map(toUser), total, limit, offset };
    },
    createUser: async (call) => toUser(await users.create(call.body, administratorOf(call))),
    readUser: async ({ params }) => toUser(await users.read(params.id)),
    updateUser: async (call) =>
      toUser(await users.update(call.params.id, call.body, administratorOf(call))),
    deleteUser: async (call) => {
      await users.delete(call.params.id, administratorOf(call));
      return { id: call.params.id, deleted: true };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

function apiKeyRoutes({ apiKeys }: AuthParts) {
  return {
    listApiKeys: async (call) => {
      const { keys, total } = await apiKeys.list(call.query, administratorOf(call));
      return { apiKeys: keys.map(toApiKey), total, ...call.query };
    },
    createApiKey: async (call) => {
      const { key, text } = await apiKeys.create(call.body, administratorOf(call));
      return { ...toApiKey(key), api_key: text };
    },
    readApiKey: async (call) => toApiKey(await apiKeys.read(call.params.id, administratorOf(call))),
    revokeApiKey: async (call) =>
      toApiKey(await apiKeys.revoke(call.params.id, administratorOf(call))),
    rotateApiKey: async (call) => {
      const options = call.body ?? {};
      const { key, text } = await apiKeys.rotate(call.params.id, options, administratorOf(call));
      return { ...toApiKey(key), api_key: text };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

function suiteRoutes({ revoker, keyring, host }: AuthParts) {
  return {
    revocations: async ({ query }) => {
      const { revocations, next } = await revoker.read(query.after);
      return { revocations: [...revocations], next };
    },
    health: async () => {
      const isDatabaseUp = await host.database.ping().then(
        () => true,
        () => false,
      );
      const database = isDatabaseUp ? 'healthy' : 'unhealthy';
      const own = { database, signingKeys: keyring.keys.length };
      return { ...host.health(), ...(isDatabaseUp ? {} : { status: 'unhealthy' }), ...own };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

function administratorOf({ identity, origin }: Administrator): Administrator {
  return { identity, origin };
}
