import { adminPassword } from '../../src/auth/testing.ts';
import { median, type Figure, type Row } from '../harness/figure.ts';
import type { Depth } from '../foundation/depth.ts';
import { commonLanguageEffect } from './statistics.ts';
import { Server } from './servers.ts';

const attemptsPerRound = 150;
const differenceMax = 0.05;
const effectMax = 0.55;

interface Kind {
  readonly name: string;
  readonly username: string;
  readonly password: string;
}

const longest = 'x'.repeat(1024);

const kinds: readonly Kind[] = [
  { name: 'wrong password', username: 'admin', password: 'wrong' },
  { name: 'unknown user', username: 'nobody', password: 'wrong' },
  { name: 'disabled user, right password', username: 'disabled', password: adminPassword },
  { name: 'wrong password of 1,024 bytes', username: 'admin', password: longest },
  { name: 'unknown user, 1,024 bytes', username: 'nobody', password: longest },
];

/**
 * Whether a refused login tells by its time who exists: medians of single logins in turn, and how
 * often one kind is slower than a wrong password (0.5 = never tells; Mann-Whitney's U / n1 n2).
 */
export async function measureLoginTiming(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  await createDisabledUser(auth);
  const samples = new Map<string, number[]>(kinds.map(({ name }) => [name, []]));
  const attempts = depth.isWhole ? attemptsPerRound * depth.rounds : attemptsPerRound;
  for (let attempt = -10; attempt < attempts; attempt += 1) {
    const order = attempt % 2 === 0 ? kinds : kinds.toReversed();
    for (const kind of order) {
      const ms = await timeRefusal(auth, kind);
      if (attempt >= 0) samples.get(kind.name)?.push(ms);
    }
  }
  return [
    {
      title: 'Time of a refused login',
      rows: kinds.map(({ name }, at) => rowOf(name, at, samples)),
      note: `wall time of ${attempts} single logins each, in turn; ${effectsOf(samples)}`,
    },
  ];
}

function rowOf(name: string, at: number, samples: ReadonlyMap<string, readonly number[]>): Row {
  const own = samples.get(name) ?? [];
  if (at === 0) return { name, role: 'limit', unit: 'ms', samples: own };
  const reference = median(samples.get(kinds[0]?.name ?? '') ?? []);
  const isMet = ({ value }: { readonly value: number }) =>
    Math.abs(value / reference - 1) <= differenceMax;
  return { name, role: 'ours', unit: 'ms', samples: own, goal: { text: 'within 5 %', isMet } };
}

function effectsOf(samples: ReadonlyMap<string, readonly number[]>): string {
  const [first, ...others] = kinds.map(({ name }) => samples.get(name) ?? []);
  const effects = others.map((other) => commonLanguageEffect(other, first ?? []));
  const isTold = effects.some((effect) => Math.abs(effect - 0.5) > effectMax - 0.5);
  const list = effects.map((effect) => effect.toFixed(3)).join(', ');
  return `slower than a wrong password: ${list} (${isTold ? 'TELLS' : 'tells nothing'}: 0.45..0.55)`;
}

async function timeRefusal(auth: Server, { username, password }: Kind): Promise<number> {
  const startedAt = performance.now();
  const refusal = await auth
    .post('/api/v1/auth/login', { username, password, client_id: 'b', grant_type: 'password' })
    .catch((error: Error) => error);
  const ms = performance.now() - startedAt;
  if (!(refusal instanceof Error) || !refusal.message.includes('invalid_credentials')) {
    throw new Error(`the login of ${username} was not refused as wrong credentials`);
  }
  return ms;
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
