import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Depth } from '../harness/depth.ts';
import { ratioAtMost, type Figure } from '../harness/figure.ts';
import { connections, type Shot } from '../harness/load.ts';
import type { Memory } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import { Contestant } from './contestant.ts';

const connectionCount = 10_000;
const capabilityCount = 100;
/** Registered before the others, so that code and tables are warm when memory is first read. */
const firstCount = 500;
/** New connections get less than their share for so long, and drawing by share takes longer. */
const slowStartMs = 30_000;

const shots: readonly Shot[] = Array.from({ length: capabilityCount }, (_, turn) => ({
  method: 'POST',
  path: '/connections/discover',
  body: JSON.stringify({
    capabilities: [`capability-${turn}`],
    loadBalancing: { strategy: 'power-of-two', maxConnections: 10 },
  }),
}));

/** CPU of a discovery among many, beside a bare server of the same bytes, and what the many hold. */
export async function measureDiscovery(depth: Depth): Promise<Figure[]> {
  await using ours = await Contestant.ours();
  await ours.registerAll(clientOf, firstCount);
  const before = await ours.settledMemory();
  await ours.registerAll((at) => clientOf(firstCount + at), connectionCount - firstCount);
  const after = await ours.settledMemory();
  await sleep(slowStartMs);
  const answer = await ours.load.send(shotOf(1));
  const found = JSON.parse(answer) as { connections: { id: string }[]; totalMatching: number };
  assert.deepEqual([found.connections.length, found.totalMatching], [10, 300]);
  const path = `/connections/${found.connections[0]?.id}`;
  const detail = await ours.load.send({ method: 'GET', path });
  return [
    await cpuFigure(ours, answer, depth),
    ...memoryFigures({ before, after }, Buffer.byteLength(detail)),
  ];
}

async function cpuFigure(ours: Contestant, answer: string, depth: Depth): Promise<Figure> {
  await using bare = await Contestant.limit('bare', answer);
  await using fastify = await Contestant.limit('fastify', answer);
  const all = { ours, bare, fastify };
  const samplesOf = await runRounds(
    (['ours', 'bare', 'fastify'] as const).map((name) => ({
      name,
      measure: () => all[name].cpuMicrosPerShot(shotOf, depth.requests),
    })),
    depth,
  );
  const unit = 'us';
  return {
    title: `CPU per discovery among ${connectionCount.toLocaleString('en-US')} connections`,
    rows: [
      {
        name: 'ours: token, limits, span, metrics, event',
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
    ],
    note: `${connections} connections; ten of 300 by power-of-two, ${answer.length} bytes`,
  };
}

function memoryFigures(
  { before, after }: { readonly before: Memory; readonly after: Memory },
  detailBytes: number,
): Figure[] {
  const unit = 'kB';
  const perConnection = (key: keyof Memory) => [
    (after[key] - before[key]) / (connectionCount - firstCount) / 1_000,
  ];
  return [
    {
      title: `Memory of a connection that is only registered, of ${connectionCount.toLocaleString('en-US')}`,
      rows: [
        { name: 'heap', role: 'ours', unit, samples: perConnection('heapBytes') },
        { name: 'resident', role: 'ours', unit, samples: perConnection('residentBytes') },
        { name: 'its detail as JSON', role: 'limit', unit, samples: [detailBytes / 1_000] },
      ],
      note: 'three capabilities each, no endpoint; garbage collected; the resident part has the database in it',
    },
  ];
}

function shotOf(turn: number): Shot {
  const shot = shots[turn % shots.length];
  if (!shot) throw new Error('there is no such shot');
  return shot;
}

function clientOf(at: number): object {
  const capabilities = [0, 1, 2].map(
    (step) => `capability-${(at * 7 + step * 31) % capabilityCount}`,
  );
  const metadata = { region: 'eu', version: '1.0.0' };
  return { name: `client-${at}`, type: 'client', protocol: 'http', capabilities, metadata };
}
