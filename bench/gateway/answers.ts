import type { Depth } from '../harness/depth.ts';
import { ratioAtLeast, ratioAtMost, type Figure } from '../harness/figure.ts';
import { runRounds, type Contestant } from '../harness/rounds.ts';
import { chunkCount, completion, streamShot, wholeShot } from './exchange.ts';
import { Door, requireAnswer, requireStream, underLoad } from './doors.ts';

const unit = 'us';
const peerTimes = 8;

/** CPU time per request of ours, of a bare pass-through and of Portkey, over one upstream. */
export async function measureAnswers(depth: Depth): Promise<Figure[]> {
  await using upstream = await Door.upstream();
  await using bare = await Door.bare(upstream);
  await using ours = await Door.ours(upstream);
  await using portkey = await Door.portkey(upstream);
  const doors = { upstream, bare, ours, portkey };
  for (const door of Object.values(doors)) await requireAnswer(door, wholeShot);
  const few = Math.ceil(depth.requests / 4);
  const contestant = (name: keyof typeof doors, requests: number): Contestant => ({
    name,
    measure: () => doors[name].cpuMicrosPerRequest(wholeShot, requests),
  });
  const samplesOf = await runRounds(
    [
      contestant('upstream', depth.requests),
      contestant('bare', depth.requests),
      contestant('ours', depth.requests),
      contestant('portkey', few),
    ],
    depth,
  );
  const note = `${underLoad}; requests of ${wholeShot.body?.length} and answers of ${completion.length} bytes`;
  return [
    {
      title: 'CPU per chat, not streamed',
      rows: [
        {
          name: 'ours: token, limits, metering, metrics, span',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtMost(1.9),
        },
        {
          name: 'bare: node:http handed through to undici',
          role: 'limit',
          unit,
          samples: samplesOf('bare'),
        },
        { name: 'the upstream itself', role: 'check', unit, samples: samplesOf('upstream') },
      ],
      note,
    },
    {
      title: 'The same against Portkey',
      rows: [
        {
          name: '@portkey-ai/gateway, without auth, limits and metering',
          role: 'peer',
          unit,
          samples: samplesOf('portkey'),
          goal: ratioAtLeast(peerTimes, 'ours'),
        },
        { name: 'ours, again', role: 'limit', unit, samples: samplesOf('ours') },
      ],
      note: 'here ours is the limit: the ratio says how many times as much Portkey takes',
    },
  ];
}

/** CPU time per streamed answer. */
export async function measureStreams(depth: Depth): Promise<Figure[]> {
  await using upstream = await Door.upstream();
  await using bare = await Door.bare(upstream);
  await using ours = await Door.ours(upstream);
  const doors = { upstream, bare, ours };
  for (const door of Object.values(doors)) await requireStream(door, streamShot);
  const requests = Math.ceil(depth.requests / 4);
  const names = ['upstream', 'bare', 'ours'] as const;
  const samplesOf = await runRounds(
    names.map((name) => ({
      name,
      measure: () => doors[name].cpuMicrosPerRequest(streamShot, requests),
    })),
    depth,
  );
  return [
    {
      title: `CPU per chat, streamed in ${chunkCount} chunks`,
      rows: [
        {
          name: 'ours: token, limits, metering, metrics, span',
          role: 'ours',
          unit,
          samples: samplesOf('ours'),
          goal: ratioAtMost(1.3),
        },
        {
          name: 'bare: node:http handed through to undici',
          role: 'limit',
          unit,
          samples: samplesOf('bare'),
        },
        { name: 'the upstream itself', role: 'check', unit, samples: samplesOf('upstream') },
      ],
      note: `${underLoad}; ${await portkeyNote(upstream)}`,
    },
  ];
}

/** Version 1.15.2 answers every stream with an error on Node.js 20; a later one may not. */
async function portkeyNote(upstream: Door): Promise<string> {
  await using portkey = await Door.portkey(upstream);
  try {
    await requireStream(portkey, streamShot);
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    return `Portkey cannot stream here: ${line.slice(0, 120)}`;
  }
  const micros = await portkey.cpuMicrosPerRequest(streamShot, 500);
  return `Portkey took ${Math.round(micros)} us for each of 500`;
}
