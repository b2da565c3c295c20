import type { Answer } from './contracts.ts';
import { call } from './call.ts';

type User = Answer<'auth', 'GET /api/v1/auth/users/:id'>;

/** The user of a name or an id, which takes `auth:admin`. */
export async function findUser(wanted: string): Promise<User> {
  if (wanted.startsWith('usr_')) {
    return await call('auth', 'GET /api/v1/auth/users/:id', { params: { id: wanted } });
  }
  const { users } = await call('auth', 'GET /api/v1/auth/users', { query: { username: wanted } });
  const [user] = users;
  if (user) return user;
  throw new Error(`there is no user ${wanted}`);
}
