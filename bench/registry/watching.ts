import { setTimeout as sleep } from 'node:timers/promises';
import type { Depth } from '../harness/depth.ts';
import type { Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { Contestant } from './contestant.ts';
import { echoTool } from './echo-server.ts';
import { startHttpServer } from './targets.ts';

const serverCount = 1_000;
const contactSecondsMax = 180;

interface Window {
  readonly oursMicros: number;
  readonly idleMicros: number;
  readonly clientMicros: number;
  readonly checks: number;
}

/** CPU of asking 1,000 servers on schedule whether they are well, and what their links hold. */
export async function measureWatching(depth: Depth): Promise<Figure[]> {
  const windowMs = depth.isWhole ? 60_000 : 20_000;
  await using server = await startHttpServer();
  const url = `${server.hello.url}/mcp`;
  const count = async () => Number(await (await fetch(`${server.hello.url}/count`)).text());
  await using ours = await Contestant.ours();
  await using idle = await Contestant.ours();
  const module = new URL('client-child.js', import.meta.url);
  const target = JSON.stringify({ url });
  await using client = await MeasuredChild.start(module, ['paced', target, String(windowMs)]);
  const before = await ours.settledMemory();
  await ours.registerAll((at) => serverOf(at, url, windowMs), serverCount);
  await isEveryServerKnown(ours);
  // What is due at first is spread over the first interval.
  await sleep(windowMs / 4);
  const windows: Window[] = [];
  for (let round = 0; round < (depth.isWhole ? 2 : 1); round += 1) {
    windows.push(await measureWindow({ ours, idle, client, count }));
  }
  const after = await ours.settledMemory();
  const perLink = (now: number, then: number) => [(now - then) / serverCount / 1_000];
  return [
    ...cpuFigures(windows, windowMs),
    {
      title: 'Memory of a connection whose server is watched over an open link',
      rows: [
        {
          name: 'heap',
          role: 'ours',
          unit: 'kB',
          samples: perLink(after.heapBytes, before.heapBytes),
        },
        {
          name: 'resident',
          role: 'ours',
          unit: 'kB',
          samples: perLink(after.residentBytes, before.residentBytes),
        },
      ],
      note: 'garbage collected; the resident part has the database and the code in it',
    },
  ];
}

interface Watched {
  readonly ours: Contestant;
  readonly idle: Contestant;
  readonly client: MeasuredChild;
  readonly count: () => Promise<number>;
}

async function measureWindow({ ours, idle, client, count }: Watched): Promise<Window> {
  const [oursBefore, idleBefore] = [await ours.cpuMicros(), await idle.cpuMicros()];
  const before = await count();
  // It takes the whole window.
  const clientMicros = await client.cpuMicrosPerOperation(serverCount);
  const checks = (await count()) - before - serverCount;
  return {
    oursMicros: (await ours.cpuMicros()) - oursBefore,
    idleMicros: (await idle.cpuMicros()) - idleBefore,
    clientMicros,
    checks,
  };
}

function cpuFigures(windows: readonly Window[], windowMs: number): Figure[] {
  const unit = 'us';
  const checks = windows.map((window) => window.checks).join(' and ');
  const perMinute = (micros: number, checked: number) => (micros / checked) * serverCount;
  const percent = (micros: number) => (micros / 60_000_000) * 100;
  return [
    {
      title: 'CPU per health check on schedule',
      rows: [
        {
          name: 'ours: question, judgement, metrics, store',
          role: 'ours',
          unit,
          samples: windows.map((one) => (one.oursMicros - one.idleMicros) / one.checks),
        },
        {
          name: 'the official client, the question alone',
          role: 'limit',
          unit,
          samples: windows.map(({ clientMicros }) => clientMicros),
        },
      ],
      note: `${checks} checks in ${windowMs / 1_000} s; both as seldom`,
    },
    {
      title: `Share of a core, ${serverCount.toLocaleString('en-US')} servers checked a minute`,
      rows: [
        {
          name: 'the checks',
          role: 'ours',
          unit: '%',
          samples: windows.map((one) =>
            percent(perMinute(one.oursMicros - one.idleMicros, one.checks)),
          ),
        },
        {
          name: 'a registry without connections',
          role: 'check',
          unit: '%',
          samples: windows.map(({ idleMicros }) => (idleMicros / windowMs / 1_000) * 100),
        },
      ],
    },
  ];
}

/** A server that is new is asked who it is and what it has; then it is found by that. */
async function isEveryServerKnown({ load }: Contestant): Promise<void> {
  const query = { capabilities: [echoTool], loadBalancing: { maxConnections: 1 } };
  const path = '/connections/discover';
  for (let turn = 0; turn < contactSecondsMax; turn += 1) {
    const answer = await load.send({ method: 'POST', path, body: JSON.stringify(query) });
    const { totalMatching } = JSON.parse(answer) as { readonly totalMatching: number };
    if (totalMatching === serverCount) return;
    await sleep(1_000);
  }
  throw new Error('servers were not contacted');
}

function serverOf(at: number, url: string, windowMs: number): object {
  return {
    name: `server-${at}`,
    type: 'server',
    protocol: 'http',
    endpoint: { url },
    healthCheck: { enabled: true, interval: windowMs / 1_000, timeout: 5_000 },
  };
}
