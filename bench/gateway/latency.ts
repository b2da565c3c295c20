import type { Depth } from '../harness/depth.ts';
import { atMost, type Figure } from '../harness/figure.ts';
import { addedTo, medianMs } from '../harness/latency.ts';
import { runRounds } from '../harness/rounds.ts';
import { wholeShot } from './exchange.ts';
import { Door } from './doors.ts';

/** What a caller who sends one request after the other waits for besides the upstream. */
export async function measureLatency(depth: Depth): Promise<Figure[]> {
  await using upstream = await Door.upstream();
  await using bare = await Door.bare(upstream);
  await using ours = await Door.ours(upstream);
  const doors = { upstream, bare, ours };
  const requests = Math.ceil(depth.requests / 4);
  const names = ['upstream', 'bare', 'ours'] as const;
  const samplesOf = await runRounds(
    names.map((name) => ({
      name,
      measure: () => medianMs((turn) => doors[name].send(wholeShot, turn), requests),
    })),
    depth,
  );
  const unit = 'ms';
  const direct = samplesOf('upstream');
  const added = (name: string) => addedTo(direct, samplesOf(name));
  return [
    {
      title: 'Time of a chat at one connection, median of each round',
      rows: [
        { name: 'the upstream itself', role: 'limit', unit, samples: direct },
        { name: 'added by bare', role: 'check', unit, samples: added('bare') },
        {
          name: 'added by ours',
          role: 'ours',
          unit,
          samples: added('ours'),
          goal: atMost(0.3, unit),
        },
      ],
      note: 'wall time: only worth something on a quiet machine',
    },
  ];
}
