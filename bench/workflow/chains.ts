import type { Depth } from '../foundation/depth.ts';
import type { Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

const child = new URL('way-child.js', import.meta.url);

/** Executions of five durable steps that do nothing, 20 at a time: CPU time and throughput. */
export async function measureChains(depth: Depth, url: string | undefined): Promise<Figure[]> {
  const place = ['20', ...(url === undefined ? [] : [url])];
  await using ours = await MeasuredChild.start(child, ['ours', ...place]);
  await using floor = await MeasuredChild.start(child, ['floor', ...place]);
  await using dbos = await MeasuredChild.start(child, ['dbos', ...place]);
  const executions = Math.max(60, Math.round(600 / depth.shortening));
  const rates = new Map<string, number[]>();
  const contestant = (
    name: string,
    { process, share }: { process: MeasuredChild; share: number },
  ) => ({
    name,
    measure: async () => {
      const count = Math.round(executions * share);
      const startMs = performance.now();
      const cpuMicros = await process.cpuMicrosPerOperation(count);
      const perSecond = (count * 1_000) / (performance.now() - startMs);
      rates.set(name, [...(rates.get(name) ?? []), perSecond]);
      return cpuMicros;
    },
  });
  const samplesOf = await runRounds(
    [
      contestant('ours', { process: ours, share: 1 }),
      contestant('floor', { process: floor, share: 1 }),
      contestant('dbos', { process: dbos, share: 0.25 }),
    ],
    depth,
  );
  const rateOf = (name: string) => (rates.get(name) ?? []).slice(depth.warmUps);
  const database = url === undefined ? 'PGlite' : 'PostgreSQL';
  const names = { floor: '7 bare statements', ours: 'the engine', dbos: 'DBOS steps' };
  const goal = {
    text: '>= 0.60x limit',
    isMet: ({ ratio }: { readonly ratio: number }) => ratio >= 0.6,
  };
  return [
    {
      title: `5 durable steps, 20 at a time, on ${database}: executions a second`,
      rows: [
        { name: names.floor, role: 'limit', unit: '1/s', samples: rateOf('floor') },
        { name: names.ours, role: 'ours', unit: '1/s', samples: rateOf('ours'), goal },
        { name: names.dbos, role: 'peer', unit: '1/s', samples: rateOf('dbos') },
      ],
    },
    {
      title: `the same on ${database}: CPU time of the process`,
      rows: [
        { name: names.floor, role: 'limit', unit: 'us', samples: samplesOf('floor') },
        { name: names.ours, role: 'ours', unit: 'us', samples: samplesOf('ours') },
        { name: names.dbos, role: 'peer', unit: 'us', samples: samplesOf('dbos') },
      ],
      ...(url === undefined ? {} : { note: 'Without the CPU time of the database server.' }),
    },
  ];
}
