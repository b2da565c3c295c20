import type { Depth } from '../foundation/depth.ts';
import { atMost, type Figure } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import type { BenchModel } from './model-files.ts';
import { Contestant, type Account } from './orders.ts';

/**
 * CPU time of the service's own process for a request that makes one token, without the process of
 * the model; the client's share is in it, too, as it runs in the same process.
 */
export async function measureHttp(files: readonly BenchModel[], depth: Depth): Promise<Figure[]> {
  const [smallest] = files;
  if (!smallest) return [];
  await using http = await Contestant.start('http', smallest.path);
  await using runtime = await Contestant.start('runtime', smallest.path);
  const requests = Math.ceil(depth.requests / 10);
  const order = { parallel: 1, requests, promptWords: 4, answerTokens: 1 };
  const cpuMs = (account: Account) => account.cpuMs / requests;
  const samplesOf = await runRounds(
    [
      { name: 'http', measure: async () => cpuMs(await http.carryOut(order)) },
      { name: 'runtime', measure: async () => cpuMs(await runtime.carryOut(order)) },
    ],
    depth,
  );
  const unit = 'ms';
  const without = samplesOf('runtime');
  const added = samplesOf('http').map((sample, round) => sample - (without[round] ?? Number.NaN));
  return [
    {
      title: 'CPU time of a request for one token, without the process of the model',
      rows: [
        {
          name: 'POST /v1/completions, server and client',
          role: 'ours',
          unit,
          samples: samplesOf('http'),
        },
        { name: 'the runtime, called', role: 'limit', unit, samples: without },
        { name: 'added by HTTP', role: 'ours', unit, samples: added, goal: atMost(1, unit) },
      ],
    },
  ];
}
