import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../harness/figure.ts';
import { TracerClient, type Stored } from './client.ts';
import { Decoding } from './decoding.ts';
import type { Depth } from './depth.ts';
import { makeSlices, type Slice } from './exports.ts';
import { TracerHost, type Account } from './host.ts';
import { measureIntake, type IntakeFigures } from './intake.ts';
import type { PostgresServer } from './postgres.ts';
import { measureReading, type ReadingFigures } from './reading.ts';
import { readTableSizes } from './table-sizes.ts';

/** All that is measured on one database. */
export interface Measured {
  readonly intake: IntakeFigures;
  readonly stored: Stored;
  readonly reading: ReadingFigures;
  readonly memory: { readonly atRest: Account; readonly loaded: Account; readonly end: Account };
  readonly tables: ReadonlyMap<string, number>;
  readonly postponed: number;
}

const hourUs = 3_600_000_000;
const settleMs = 6_000;

/** Fills a tracer, then reads from it while more comes. */
export async function measureTracer(
  depth: Depth,
  slices: readonly Slice[],
  server?: PostgresServer,
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-tracer-'));
  try {
    const measured = await measureHost({ depth, slices, server, folder });
    const tables = await readTableSizes(
      server ? { url: server.url } : { folder: join(folder, 'postgres') },
    );
    return { ...measured, tables };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Contest {
  readonly depth: Depth;
  readonly slices: readonly Slice[];
  readonly server: PostgresServer | undefined;
  readonly folder: string;
}

async function measureHost(contest: Contest): Promise<Omit<Measured, 'tables'>> {
  const { depth, slices, server, folder } = contest;
  await using host = await TracerHost.start(folder, server?.url);
  await using client = new TracerClient(host.hello);
  await sleep(settleMs);
  const atRest = await host.account();
  const intake = await measureFilling({ depth, slices, server, host, client });
  await sleep(settleMs);
  const loaded = await host.account();
  const stored = await client.untilComplete();
  const traceIds = slices.flatMap((each) => each.traceIds);
  const speeds = intake.gzip.map(({ completedPerSecond }) => completedPerSecond);
  const spansPerSecond = median(speeds) / 2;
  const [slice] = makeSlices(liveOptions(spansPerSecond * depth.readingSeconds));
  if (!slice) throw new Error('there is nothing to send while reading');
  const reading = await measureReading({ host, client, slice, spansPerSecond, traceIds });
  const end = await host.account();
  const { postponed } = client;
  return { intake, stored, reading, memory: { atRest, loaded, end }, postponed };
}

async function measureFilling(
  filling: Omit<Contest, 'folder'> & {
    readonly host: TracerHost;
    readonly client: TracerClient;
  },
): Promise<IntakeFigures> {
  const options = sampleOptions();
  await using scan = await Decoding.start('scan', options);
  await using inflateScan = await Decoding.start('inflate-scan', options);
  await using protobufjs = await Decoding.start('protobufjs', options);
  const decodings = { scan, 'inflate-scan': inflateScan, protobufjs };
  return await measureIntake({ ...filling, decodings });
}

/**
 * Makes what is stored before reading is measured: in the rounds that warm up the first half, of past
 * hours; in the rounds that count the other half, of the last minutes, as exporters send it.
 */
export function makeStock({ rounds, warmUps, spans, hoursBack }: Depth): Slice[] {
  const untilUs = Date.now() * 1_000;
  const recentUs = untilUs - minutesRecent * 60_000_000;
  const history = slicesOf(spans / 2, 2 * warmUps);
  const recent = slicesOf(spans / 2, 2 * rounds);
  return [
    ...makeSlices({
      seed: 7,
      slices: history,
      fromUs: recentUs - hoursBack * hourUs,
      untilUs: recentUs,
    }),
    ...makeSlices({ seed: 8, slices: recent, fromUs: recentUs, untilUs }),
  ];
}

const minutesRecent = 5;

function slicesOf(spans: number, count: number): number[] {
  return Array.from({ length: count }, () => Math.ceil(spans / count));
}

/** What is decoded: of the same making as what is stored, and as much as fits well in a cache of exports. */
function sampleOptions() {
  const untilUs = Date.now() * 1_000;
  return { seed: 7, slices: [25_000], fromUs: untilUs - hourUs, untilUs };
}

/** What comes while others read: it has just happened. */
function liveOptions(spans: number) {
  const untilUs = Date.now() * 1_000;
  return { seed: 11, slices: [spans], fromUs: untilUs - 20_000_000, untilUs };
}
