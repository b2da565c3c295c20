import { ratioAtLeast, type Figure } from '../harness/figure.ts';
import { connections } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import type { Depth } from '../harness/depth.ts';
import { hashesAtOnce } from '../../src/auth/accounts/passwords.ts';
import { logIn, Server } from './servers.ts';

/**
 * Logins of one core in a second, beside the password hash that each of them needs: the same
 * parameters, on the same pool of threads, and as many at once as the service allows itself.
 */
export async function measureLogin(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  await using bare = await Server.start('hash');
  await using hashing = await MeasuredChild.start(new URL('loop-child.js', import.meta.url), [
    'argon2',
  ]);
  const times = Math.ceil(depth.requests / 15);
  const contestant = (name: string, server: Server) => ({
    name,
    measure: async () => {
      const step = () => logIn(server);
      return 1e6 / (await server.cpuMicrosPerStep(step, times, { isCalm: true }));
    },
  });
  const samplesOf = await runRounds(
    [
      contestant('ours', auth),
      contestant('bare', bare),
      { name: 'argon2', measure: async () => 1e6 / (await hashing.cpuMicrosPerOperation(times)) },
    ],
    // The database's code is compiled in the background while it is new.
    { ...depth, warmUps: depth.warmUps + 1 },
  );
  const unit = '/s per core';
  return [
    {
      title: 'Login with a password',
      rows: [
        {
          name: 'POST /api/v1/auth/login',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtLeast(0.8),
        },
        {
          name: 'Fastify, a POST that verifies the hash and no more',
          role: 'check',
          unit,
          samples: samplesOf('bare'),
        },
        {
          name: 'argon2id verification alone (19 MiB, 2 passes)',
          role: 'limit',
          unit,
          samples: samplesOf('argon2'),
        },
      ],
      note: `${connections} connections, ${hashesAtOnce()} at a time at the hash; both while the load sleeps`,
    },
  ];
}
