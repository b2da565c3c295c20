import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import { toUser } from './answers.ts';

/** The edge of the users. */
export function userHandlers({ users }: AuthParts) {
  return {
    listUsers: async ({ query }) => {
      const { users: rows, total } = await users.list(query);
      const { limit, offset } = query;
      return { users: rows.map(toUser), total, limit, offset };
    },
    createUser: async ({ body, identity, origin }) =>
      toUser(await users.create(body, { identity, origin })),
    readUser: async ({ params }) => toUser(await users.read(params.id)),
    updateUser: async ({ params, body, identity, origin }) =>
      toUser(await users.update(params.id, body, { identity, origin })),
    deleteUser: async ({ params, identity, origin }) => {
      await users.delete(params.id, { identity, origin });
      return { id: params.id, deleted: true };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}
