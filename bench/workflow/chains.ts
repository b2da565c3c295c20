import type { Depth } from '../harness/depth.ts';
import { ratioAtLeast, type Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

const child = new URL('way-child.js', import.meta.url);

/**
 * Executions of five durable steps that do nothing, 20 at a time: CPU time and throughput; beside them
 * what Node-RED does, which stores nothing.
 */
export async function measureChains(depth: Depth, url: string | undefined): Promise<Figure[]> {
  const place = ['20', ...(url === undefined ? [] : [url])];
  await using ours = await MeasuredChild.start(child, ['ours', ...place]);
  await using floor = await MeasuredChild.start(child, ['floor', ...place]);
  await using dbos = await MeasuredChild.start(child, ['dbos', ...place]);
  await using nodeRed = await MeasuredChild.start(child, ['node-red', '20']);
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
      contestant('node-red', { process: nodeRed, share: 5 }),
    ],
    depth,
  );
  const rateOf = (name: string) => (rates.get(name) ?? []).slice(depth.warmUps);
  const database = url === undefined ? 'PGlite' : 'PostgreSQL';
  return [rateFigure(database, rateOf), cpuFigure(database, samplesOf)];
}

type DatabaseName = 'PGlite' | 'PostgreSQL';
type SamplesOf = (name: string) => readonly number[];

const rows = [
  ['7 bare statements', 'limit', 'floor'],
  ['the engine', 'ours', 'ours'],
  ['DBOS steps', 'peer', 'dbos'],
  ['Node-RED, volatile', 'peer', 'node-red'],
] as const;

function rateFigure(database: DatabaseName, samplesOf: SamplesOf): Figure {
  return {
    title: `5 durable steps, 20 at a time, on ${database}: executions a second`,
    rows: rows.map(([name, role, key]) => ({
      name,
      role,
      unit: '1/s',
      samples: samplesOf(key),
      ...(role === 'ours' ? { goal: ratioAtLeast(0.6) } : {}),
    })),
    note: 'Node-RED stores nothing: a crash loses what it runs.',
  };
}

function cpuFigure(database: DatabaseName, samplesOf: SamplesOf): Figure {
  return {
    title: `the same on ${database}: CPU time of the process`,
    rows: rows.map(([name, role, key]) => ({ name, role, unit: 'us', samples: samplesOf(key) })),
    ...(database === 'PGlite' ? {} : { note: 'Without the CPU time of the database server.' }),
  };
}
