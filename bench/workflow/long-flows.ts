import type { Depth } from '../harness/depth.ts';
import type { Figure, Role } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

const child = new URL('way-child.js', import.meta.url);
const nodes = 300;

/** A flow of 300 durable nodes, run alone: time and CPU time of a node. */
export async function measureLongFlows(depth: Depth, url: string | undefined): Promise<Figure[]> {
  const place = ['1', ...(url === undefined ? [] : [url])];
  await using row = await MeasuredChild.start(child, ['ours, 300 in a row', ...place]);
  await using wide = await MeasuredChild.start(child, ['ours, 298 at once', ...place]);
  await using floor = await MeasuredChild.start(child, ['floor, 300 in a row', ...place]);
  const runs = Math.max(1, Math.round(8 / depth.shortening));
  const times = new Map<string, number[]>();
  const contestant = (name: string, process: MeasuredChild) => ({
    name,
    measure: async () => {
      const startMs = performance.now();
      const cpuMicros = await process.cpuMicrosPerOperation(runs);
      const ms = (performance.now() - startMs) / runs / nodes;
      times.set(name, [...(times.get(name) ?? []), ms]);
      return cpuMicros / nodes;
    },
  });
  const samplesOf = await runRounds(
    [contestant('row', row), contestant('wide', wide), contestant('floor', floor)],
    depth,
  );
  const timesOf = (name: string) => (times.get(name) ?? []).slice(depth.warmUps);
  const database = url === undefined ? 'PGlite' : 'PostgreSQL';
  const rows = (unit: string, read: (name: string) => readonly number[]) =>
    (
      [
        ['302 bare statements', 'limit', 'floor'],
        ['300 nodes in a row', 'ours', 'row'],
        ['298 nodes at once', 'ours', 'wide'],
      ] satisfies [string, Role, string][]
    ).map(([name, role, key]) => ({ name, role, unit, samples: read(key) }));
  return [
    { title: `a node of a flow of 300, on ${database}: time`, rows: rows('ms', timesOf) },
    { title: `a node of a flow of 300, on ${database}: CPU time`, rows: rows('us', samplesOf) },
  ];
}
