import type { Depth } from '../harness/depth.ts';
import { ratioAtLeast, type Figure } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import { cachedShot } from './exchange.ts';
import { Door, requireAnswer, underLoad } from './doors.ts';

/** Answers from the cache that one core gives in a second, beside a Fastify that does nothing. */
export async function measureCached(depth: Depth): Promise<Figure[]> {
  await using upstream = await Door.upstream();
  await using noop = await Door.noop();
  await using ours = await Door.ours(upstream);
  await requireAnswer(noop, cachedShot);
  await requireAnswer(ours, cachedShot);
  await requireHit(ours);
  const rate = (door: Door) => async () =>
    1e6 / (await door.cpuMicrosPerRequest(cachedShot, depth.requests));
  const samplesOf = await runRounds(
    [
      { name: 'ours', measure: rate(ours) },
      { name: 'noop', measure: rate(noop) },
    ],
    depth,
  );
  const unit = '/s per core';
  return [
    {
      title: 'Chats answered from the cache',
      rows: [
        {
          name: 'ours, X-Cache: HIT',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtLeast(0.5),
        },
        {
          name: 'Fastify, a POST that is read and answered with the same bytes',
          role: 'limit',
          unit,
          samples: samplesOf('noop'),
        },
      ],
      note: underLoad,
    },
  ];
}

async function requireHit(ours: Door): Promise<void> {
  const hit = await ours.headers(cachedShot);
  if (hit['x-cache'] !== 'HIT') throw new Error('the second answer did not come from the cache');
}
