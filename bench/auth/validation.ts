import { type Figure, type Goal } from '../harness/figure.ts';
import { connections, type Shot } from '../harness/load.ts';
import { runRounds } from '../harness/rounds.ts';
import type { Depth } from '../foundation/depth.ts';
import { LoginSessions, peerClient, Server, shotOf } from './servers.ts';

const tokenCount = 512;
// A machine that others use changes its speed from one second to the next.
const roundsFactor = 4;
const form = 'application/x-www-form-urlencoded';

/** Validations of one core in a second, beside a route that does nothing and oidc-provider's introspection. */
export async function measureValidation(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  await using noop = await Server.start('noop');
  await using peer = await Server.start('peer');
  const { requests } = depth;
  const shots = await validationShots(auth);
  const introspections = await introspectionShots(peer);
  const contestant = (name: string, server: Server, sent: readonly Shot[]) => ({
    name,
    measure: async () => {
      const step = (turn: number) => server.load.send(sent[turn % sent.length] ?? nothing);
      return 1e6 / (await server.cpuMicrosPerStep(step, requests));
    },
  });
  const samplesOf = await runRounds(
    [
      contestant('ours', auth, shots),
      contestant('noop', noop, shots),
      contestant('peer', peer, introspections),
    ],
    { rounds: depth.rounds * roundsFactor, warmUps: depth.warmUps * roundsFactor },
  );
  const unit = '/s per core';
  return [
    {
      title: 'Validation of a token',
      rows: [
        {
          name: 'POST /api/v1/auth/validate',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtLeast(0.75),
        },
        {
          name: 'Fastify, a POST that reads the token and does nothing',
          role: 'limit',
          unit,
          samples: samplesOf('noop'),
        },
        {
          name: 'oidc-provider, introspection of an opaque token in memory',
          role: 'peer',
          unit,
          samples: samplesOf('peer'),
        },
      ],
      note: `${connections} connections, ${shots.length} tokens of about 1 kB in turn, ${requests} requests a round`,
    },
  ];
}

const nothing: Shot = { method: 'POST', path: '/' };

function ratioAtLeast(least: number): Goal {
  return { text: `>= ${least}x limit`, isMet: ({ ratio }) => ratio >= least };
}

async function validationShots(auth: Server): Promise<Shot[]> {
  const sessions = await LoginSessions.open(auth);
  const shots: Shot[] = [];
  await auth.load.repeat(async (_, connection) => {
    const token = await sessions.refresh(connection);
    shots.push(shotOf('/api/v1/auth/validate', { token }));
  }, tokenCount);
  for (const shot of shots) {
    const { valid } = JSON.parse(await auth.load.send(shot)) as { valid: boolean };
    if (!valid) throw new Error('a fresh token is not valid');
  }
  return shots;
}

async function introspectionShots(peer: Server): Promise<Shot[]> {
  const secret = Buffer.from(`${peerClient.id}:${peerClient.secret}`).toString('base64');
  const common = { method: 'POST', contentType: form, authorization: `Basic ${secret}` } as const;
  const grant = { ...common, path: '/token', body: 'grant_type=client_credentials' };
  const shots: Shot[] = [];
  await peer.load.repeat(async () => {
    const { access_token } = JSON.parse(await peer.load.send(grant)) as { access_token: string };
    const body = new URLSearchParams({ token: access_token }).toString();
    shots.push({ ...common, path: '/token/introspection', body });
  }, tokenCount);
  return shots;
}
