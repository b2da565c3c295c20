import { type Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import type { Depth } from '../foundation/depth.ts';
import { logIn, Server } from './servers.ts';

/** Logins of one core in a second, beside the password hash that each of them needs. */
export async function measureLogin(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  await using hashing = await MeasuredChild.start(new URL('loop-child.js', import.meta.url), [
    'argon2',
  ]);
  const times = Math.ceil(depth.requests / 15);
  const samplesOf = await runRounds(
    [
      {
        name: 'ours',
        measure: async () => 1e6 / (await auth.cpuMicrosPerStep(() => logIn(auth), times)),
      },
      { name: 'argon2', measure: async () => 1e6 / (await hashing.cpuMicrosPerOperation(times)) },
    ],
    depth,
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
          goal: { text: '>= 0.8x limit', isMet: ({ ratio }) => ratio >= 0.8 },
        },
        {
          name: 'argon2id verification alone (19 MiB, 2 passes)',
          role: 'limit',
          unit,
          samples: samplesOf('argon2'),
        },
      ],
    },
  ];
}
