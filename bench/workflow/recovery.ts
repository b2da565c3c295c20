import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Depth } from '../harness/depth.ts';
import type { Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';

/** Milliseconds since the process began. */
export interface RecoveryHello {
  readonly openedMs: number;
  readonly finishedMs: number;
}

const child = new URL('recovery-child.js', import.meta.url);
const executions = 1_000;
const roundsMax = 3;

/** 1,000 executions that stand at the fourth of five steps: ended as they are, or after kill -9. */
export async function measureRecovery(depth: Depth, url: string | undefined): Promise<Figure[]> {
  const rounds = Math.min(roundsMax, depth.rounds);
  const alive: number[] = [];
  const killed: number[] = [];
  const opening: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await inFolder(url, async (place) => {
      await using process = await stand(place);
      const startMs = performance.now();
      await process.cpuMicros(1);
      alive.push((performance.now() - startMs) / 1_000);
    });
    await inFolder(url, async (place) => {
      // Disposing it is kill -9.
      await (await stand(place))[Symbol.asyncDispose]();
      await using heir = await MeasuredChild.start<RecoveryHello>(child, words('finish', place));
      killed.push((heir.hello.finishedMs - heir.hello.openedMs) / 1_000);
      opening.push(heir.hello.openedMs / 1_000);
    });
  }
  const database = url === undefined ? 'PGlite' : 'PostgreSQL';
  const note =
    url === undefined
      ? 'The opening of the database also mends what the kill left of it.'
      : 'Most of it is the silence of 10 s after which a process counts as dead.';
  return [
    {
      title: `1,000 executions before their fourth step, on ${database}: until all have ended`,
      rows: [
        { name: 'not killed', role: 'limit', unit: 's', samples: alive },
        { name: 'killed, since the database is open', role: 'ours', unit: 's', samples: killed },
        { name: 'start of the process until then', role: 'check', unit: 's', samples: opening },
      ],
      note,
    },
  ];
}

function stand(place: string): Promise<MeasuredChild<RecoveryHello>> {
  return MeasuredChild.start(child, words('stand', place));
}

function words(mode: string, place: string): string[] {
  return [mode, String(executions), place];
}

async function inFolder(
  url: string | undefined,
  work: (place: string) => Promise<void>,
): Promise<void> {
  if (url !== undefined) return work(url);
  const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-recovery-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
