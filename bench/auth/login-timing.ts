import { adminPassword } from '../../src/auth/testing.ts';
import type { Depth } from '../harness/depth.ts';
import type { Figure } from '../harness/figure.ts';
import { measureRefusals, type Refusal } from './refusal-timing.ts';
import { Server } from './servers.ts';

const longest = 'x'.repeat(1024);

/** Whether a refused login tells by its time who exists. */
export async function measureLoginTiming(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  await createDisabledUser(auth);
  const figure = await measureRefusals(
    {
      auth,
      title: 'Time of a refused login',
      path: '/api/v1/auth/login',
      code: 'invalid_credentials',
      kinds: [
        attempt('wrong password', 'admin', 'wrong'),
        attempt('unknown user', 'nobody', 'wrong'),
        attempt('disabled user, right password', 'disabled', adminPassword),
        attempt('wrong password of 1,024 bytes', 'admin', longest),
        attempt('unknown user, 1,024 bytes', 'nobody', longest),
      ],
      attemptsPerRound: 150,
      warmUps: 10,
    },
    depth,
  );
  return [figure];
}

function attempt(name: string, username: string, password: string): Refusal {
  const body = { username, password, client_id: 'b', grant_type: 'password' };
  return { name, makeBody: () => body };
}

async function createDisabledUser(auth: Server): Promise<void> {
  const login = { username: 'admin', password: adminPassword, client_id: 'b' };
  const { access_token } = await auth.post<{ access_token: string }>('/api/v1/auth/login', {
    ...login,
    grant_type: 'password',
  });
  const authorization = `Bearer ${access_token}`;
  const send = (method: string, path: string, body: object) =>
    fetch(`${auth.url}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const user = { username: 'disabled', password: adminPassword, email: 'd@example.com', name: 'D' };
  const created = await send('POST', '/api/v1/auth/users', { ...user, roles: [] });
  const { id } = (await created.json()) as { id: string };
  const changed = await send('PATCH', `/api/v1/auth/users/${id}`, { disabled: true });
  if (changed.status !== 200) throw new Error('the user could not be disabled');
}
