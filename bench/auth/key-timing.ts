import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { adminPassword } from '../../src/auth/testing.ts';
import type { Depth } from '../harness/depth.ts';
import type { Figure } from '../harness/figure.ts';
import { measureRefusals, type RefusalTiming } from './refusal-timing.ts';
import { Server } from './servers.ts';

/**
 * Whether a refused API key tells by its time whether there is a key of that id, whom it acts for,
 * or how much of its secret is right.
 */
export async function measureKeyTiming(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  const figure = await measureRefusals(
    {
      auth,
      title: 'Time of a refused API key',
      path: '/api/v1/auth/api-key',
      code: 'invalid_api_key',
      kinds: await makeKinds(auth),
      attemptsPerRound: 400,
      warmUps: 50,
    },
    depth,
  );
  return [figure];
}

async function makeKinds(auth: Server): Promise<RefusalTiming['kinds']> {
  const { access_token } = await auth.post<{ access_token: string }>('/api/v1/auth/login', {
    username: 'admin',
    password: adminPassword,
    client_id: 'b',
    grant_type: 'password',
  });
  const { sub } = JSON.parse(
    Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString(),
  ) as { sub: string };
  const create = (more: object) => createKey(auth, access_token, more);
  const [service, user] = [await create({}), await create({ userId: sub })];
  return [
    { name: 'unknown id', makeBody: () => bodyOf(keyOf(randomHex(16), randomHex(32))) },
    {
      name: "service's key, wrong secret",
      makeBody: () => bodyOf(keyOf(service.id, randomHex(32))),
    },
    { name: "user's key, wrong secret", makeBody: () => bodyOf(keyOf(user.id, randomHex(32))) },
    {
      name: "service's key, last letters wrong",
      makeBody: () => bodyOf(keyOf(service.id, service.secret.slice(0, 56) + randomHex(4))),
    },
  ];
}

async function createKey(auth: Server, token: string, more: object) {
  const form = { name: 'b', service: 'bench', permissions: [], ...more };
  const made = await fetch(`${auth.url}/api/v1/auth/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(form),
  });
  const { api_key: text } = (await made.json()) as { api_key: string };
  const [, id = '', secret = ''] = text.split('_');
  return { id, secret };
}

function bodyOf(apiKey: string): object {
  return { api_key: apiKey, client_id: 'b' };
}

/** A key of the right form. */
function keyOf(id: string, secret: string): string {
  const body = `${id}_${secret}`;
  return `enn_${body}_${crc32(body).toString(16).padStart(8, '0')}`;
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
