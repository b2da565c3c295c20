import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { adminPassword } from '../../src/auth/testing.ts';
import type { Depth } from '../foundation/depth.ts';
import { median, type Figure, type Row } from '../harness/figure.ts';
import { Server } from './servers.ts';
import { commonLanguageEffect } from './statistics.ts';

const attemptsPerRound = 400;
const differenceMax = 0.05;
const effectMax = 0.55;

interface Kind {
  readonly name: string;
  /** Another text each time, so that nothing can be remembered of the last. */
  readonly makeKey: () => string;
}

/**
 * Whether a refused API key tells by its time whether there is a key of that id, whom it acts for,
 * or how much of its secret is right: medians of single exchanges in turn, and how often one kind is
 * slower than an unknown id (0.5 = never tells; Mann-Whitney's U / n1 n2).
 */
export async function measureKeyTiming(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  const kinds = await makeKinds(auth);
  const samples = new Map<string, number[]>(kinds.map(({ name }) => [name, []]));
  const attempts = depth.isWhole ? attemptsPerRound * depth.rounds : attemptsPerRound;
  for (let attempt = -50; attempt < attempts; attempt += 1) {
    const order = attempt % 2 === 0 ? kinds : kinds.toReversed();
    for (const { name, makeKey } of order) {
      const ms = await timeRefusal(auth, makeKey());
      if (attempt >= 0) samples.get(name)?.push(ms);
    }
  }
  const effects = kinds.slice(1).map(({ name }) => effectOf(name, { kinds, samples }));
  const isTold = effects.some((effect) => Math.abs(effect - 0.5) > effectMax - 0.5);
  const list = effects.map((effect) => effect.toFixed(3)).join(', ');
  return [
    {
      title: 'Time of a refused API key',
      rows: kinds.map(({ name }, at) => rowOf(name, at, { kinds, samples })),
      note: `wall time of ${attempts} single exchanges each, in turn; slower than an unknown id: ${list} (${isTold ? 'TELLS' : 'tells nothing'}: 0.45..0.55)`,
    },
  ];
}

interface Measured {
  readonly kinds: readonly Kind[];
  readonly samples: ReadonlyMap<string, readonly number[]>;
}

function rowOf(name: string, at: number, { kinds, samples }: Measured): Row {
  const own = samples.get(name) ?? [];
  if (at === 0) return { name, role: 'limit', unit: 'ms', samples: own };
  const reference = median(samples.get(kinds[0]?.name ?? '') ?? []);
  const isMet = ({ value }: { readonly value: number }) =>
    Math.abs(value / reference - 1) <= differenceMax;
  return { name, role: 'ours', unit: 'ms', samples: own, goal: { text: 'within 5 %', isMet } };
}

function effectOf(name: string, { kinds, samples }: Measured): number {
  const reference = samples.get(kinds[0]?.name ?? '') ?? [];
  return commonLanguageEffect(samples.get(name) ?? [], reference);
}

async function makeKinds(auth: Server): Promise<Kind[]> {
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
    { name: 'unknown id', makeKey: () => keyOf(randomHex(16), randomHex(32)) },
    { name: "service's key, wrong secret", makeKey: () => keyOf(service.id, randomHex(32)) },
    { name: "user's key, wrong secret", makeKey: () => keyOf(user.id, randomHex(32)) },
    {
      name: "service's key, last letters wrong",
      makeKey: () => keyOf(service.id, service.secret.slice(0, 56) + randomHex(4)),
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

async function timeRefusal(auth: Server, apiKey: string): Promise<number> {
  const startedAt = performance.now();
  const refusal = await auth
    .post('/api/v1/auth/api-key', { api_key: apiKey, client_id: 'b' })
    .catch((error: Error) => error);
  const ms = performance.now() - startedAt;
  if (refusal instanceof Error && refusal.message.includes('invalid_api_key')) return ms;
  throw new Error('the key was not refused as unknown');
}

/** A key of the right form. */
function keyOf(id: string, secret: string): string {
  const body = `${id}_${secret}`;
  return `enn_${body}_${crc32(body).toString(16).padStart(8, '0')}`;
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
