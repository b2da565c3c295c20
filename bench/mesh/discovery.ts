import assert from 'node:assert/strict';
import type { Depth } from '../harness/depth.ts';
import { atMost, ratioAtMost, type Figure } from '../harness/figure.ts';
import type { Shot } from '../harness/load.ts';
import { runRounds } from '../harness/rounds.ts';
import { agentCount, queryOf } from './agents.ts';
import { Contestant, underLoad } from './contestant.ts';
import { withPeers } from './peers.ts';

const shots: readonly Shot[] = Array.from({ length: 100 }, (_, turn) => ({
  method: 'POST',
  path: '/api/v1/agents/discover',
  body: JSON.stringify(queryOf(turn)),
}));
const shotOf = (turn: number): Shot => shots[turn % shots.length] ?? never();

/** CPU time of a discovery and how long it takes, beside a bare server that answers the same bytes. */
export async function measureDiscovery(depth: Depth): Promise<Figure[]> {
  await using ours = await Contestant.ours('full');
  const answer = await ours.load.send(shotOf(1), 1);
  const { agents, totalFound } = JSON.parse(answer) as { agents: unknown[]; totalFound: number };
  assert.deepEqual([agents.length, totalFound], [10, 300]);
  await using bare = await Contestant.limit('bare', answer);
  await using fastify = await Contestant.limit('fastify', answer);
  return await withPeers(['etcd', 'redis'], async (peers, note) => {
    for (const peer of peers) await peer.fill();
    const samplesOf = await runRounds(
      [
        { name: 'ours', measure: () => ours.cpuMicrosPerShot(shotOf, depth.requests) },
        { name: 'bare', measure: () => bare.cpuMicrosPerShot(shotOf, depth.requests) },
        { name: 'fastify', measure: () => fastify.cpuMicrosPerShot(shotOf, depth.requests) },
        ...peers.map((peer) => ({
          name: peer.name,
          measure: () => peer.cpuMicrosPerLookup(Math.ceil(depth.requests / 2)),
        })),
      ],
      depth,
    );
    const unit = 'us';
    const cpu: Figure = {
      title: `CPU per discovery among ${agentCount.toLocaleString('en-US')} agents`,
      rows: [
        {
          name: 'ours: token, limits, span, metrics',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtMost(1.6),
        },
        { name: 'bare: node:http', role: 'limit', unit, samples: samplesOf('bare') },
        {
          name: 'Fastify that parses the query and no more',
          role: 'check',
          unit,
          samples: samplesOf('fastify'),
        },
        ...peers.map(({ name, lookup }) => ({
          name: `${name}, ${lookup}`,
          role: 'peer' as const,
          unit,
          samples: samplesOf(name),
        })),
      ],
      note: `${underLoad}; the ten best of 300, ${answer.length} bytes${note}`,
    };
    return [cpu, await measureLatency({ ours, bare }, depth)];
  });
}

/** How long those wait who are answered last, with all connections busy. */
async function measureLatency(
  { ours, bare }: { readonly ours: Contestant; readonly bare: Contestant },
  depth: Depth,
): Promise<Figure> {
  const samplesOf = await runRounds(
    [
      { name: 'ours', measure: () => p99Ms(ours, depth.requests) },
      { name: 'bare', measure: () => p99Ms(bare, depth.requests) },
    ],
    depth,
  );
  const unit = 'ms';
  return {
    title: 'Time of a discovery with 64 in flight, p99 of each round',
    rows: [
      { name: 'ours', role: 'ours', unit, samples: samplesOf('ours'), goal: atMost(5, unit) },
      { name: 'bare: node:http', role: 'limit', unit, samples: samplesOf('bare') },
    ],
    note: 'wall time with the load in it: only worth something on a quiet machine',
  };
}

async function p99Ms({ load }: Contestant, requests: number): Promise<number> {
  const samples: number[] = [];
  await load.repeat(async (turn) => {
    const startedAt = performance.now();
    await load.send(shotOf(turn), turn);
    samples.push(performance.now() - startedAt);
  }, requests);
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * 0.99)] ?? Number.NaN;
}

function never(): never {
  throw new Error('there is no such shot');
}
