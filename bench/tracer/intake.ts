import { setTimeout as sleep } from 'node:timers/promises';
import { runRounds } from '../harness/rounds.ts';
import { TracerClient, type Body } from './client.ts';
import type { Decoding, Way } from './decoding.ts';
import type { Depth } from './depth.ts';
import { plainBodies, type Slice } from './exports.ts';
import type { TracerHost } from './host.ts';
import type { PostgresServer } from './postgres.ts';

/** What a round took. */
interface Taken {
  /** Per second of CPU time of the tracer's process. */
  readonly perCore: number;
  /** The same with the time of the database server's processes. */
  readonly perCoreWithServer: number;
  /** Acknowledged per second by the clock. */
  readonly acknowledgedPerSecond: number;
  /** Stored, analysed and counted per second by the clock: what can be kept up. */
  readonly completedPerSecond: number;
}

export interface IntakeFigures {
  readonly plain: readonly Taken[];
  readonly gzip: readonly Taken[];
  readonly decoding: (way: Way) => readonly number[];
}

export interface IntakeOptions {
  readonly host: TracerHost;
  readonly client: TracerClient;
  readonly server: PostgresServer | undefined;
  readonly decodings: Readonly<Record<Way, Decoding>>;
  readonly slices: readonly Slice[];
  readonly depth: Depth;
}

/** A trace is complete when nothing came for it for so long. */
const quietMs = 2_000;

/** Sends every slice in a round of its own, plain and gzip in turn, between rounds of mere decoding. */
export async function measureIntake(options: IntakeOptions): Promise<IntakeFigures> {
  const { decodings, slices, depth } = options;
  const remaining = [...slices];
  const taken = { plain: [] as Taken[], gzip: [] as Taken[] };
  const ours = (name: 'plain' | 'gzip') => ({
    name,
    measure: async () => {
      const slice = remaining.shift();
      if (!slice) throw new Error('there are not as many slices as rounds');
      const round = await takeSlice(slice, name === 'gzip', options);
      taken[name].push(round);
      return round.perCore;
    },
  });
  const way = (name: Way) => ({
    name,
    measure: () => decodings[name].spansPerCpuSecond(decodedSpans),
  });
  const ways = [way('scan'), way('inflate-scan'), way('protobufjs')];
  const samplesOf = await runRounds([ours('plain'), ours('gzip'), ...ways], depth);
  return {
    plain: taken.plain.slice(depth.warmUps),
    gzip: taken.gzip.slice(depth.warmUps),
    decoding: samplesOf,
  };
}

const decodedSpans = 100_000;

async function takeSlice(slice: Slice, isGzip: boolean, options: IntakeOptions): Promise<Taken> {
  const { host, client, server } = options;
  const bodies = bodiesOf(slice, isGzip);
  const before = await cpuMicros(host, server);
  const startedAt = performance.now();
  const seconds = await client.sendAll(bodies, { isGzip });
  await sleep(quietMs + 200);
  await client.untilComplete();
  const completedMs = performance.now() - startedAt - quietMs;
  const after = await cpuMicros(host, server);
  const own = after.own - before.own;
  return {
    perCore: (1e6 * slice.spanCount) / own,
    perCoreWithServer: (1e6 * slice.spanCount) / (own + after.server - before.server),
    acknowledgedPerSecond: slice.spanCount / seconds,
    completedPerSecond: (1_000 * slice.spanCount) / completedMs,
  };
}

/** The bodies of a slice as they are sent. */
export function bodiesOf(slice: Slice, isGzip: boolean): Body[] {
  const plain = isGzip ? [] : plainBodies(slice);
  return slice.exports.map(({ gzip, spanCount }, at) => ({
    bytes: plain[at] ?? gzip,
    spanCount,
  }));
}

async function cpuMicros(host: TracerHost, server: PostgresServer | undefined) {
  const { cpuMicros: own } = await host.account();
  return { own, server: (await server?.cpuMicros()) ?? 0 };
}
