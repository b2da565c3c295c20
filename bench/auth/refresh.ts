import { atLeast, type Figure } from '../harness/figure.ts';
import { connections } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import type { Depth } from '../harness/depth.ts';
import { LoginSessions, Server } from './servers.ts';

/** Refreshes of one core in a second on PGlite, beside the signature that each of them needs. */
export async function measureRefresh(depth: Depth): Promise<Figure[]> {
  await using auth = await Server.start('auth');
  await using signs = await MeasuredChild.start(new URL('loop-child.js', import.meta.url), [
    'signature',
  ]);
  const sessions = await LoginSessions.open(auth);
  const times = depth.requests;
  const samplesOf = await runRounds(
    [
      {
        name: 'ours',
        measure: async () => {
          const step = (_: number, connection: number) => sessions.refresh(connection);
          return 1e6 / (await auth.cpuMicrosPerStep(step, times));
        },
      },
      {
        name: 'signs',
        measure: async () => 1e6 / (await signs.cpuMicrosPerOperation(Math.ceil(times / 4))),
      },
    ],
    depth,
  );
  const unit = '/s per core';
  return [
    {
      title: 'Refresh of a session',
      rows: [
        {
          name: 'POST /api/v1/auth/refresh, PGlite in a folder',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: atLeast(1_200, unit),
        },
        {
          name: 'one RS256 signature, node:crypto',
          role: 'limit',
          unit,
          samples: samplesOf('signs'),
        },
      ],
      note: `${connections} sessions at once; the process's CPU time, database thread included`,
    },
  ];
}
