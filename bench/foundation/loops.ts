import type { Row } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';
import type { Depth } from '../harness/depth.ts';

/** Prepares what a loop needs, then answers the loop itself. */
export type PrepareLoop = () => Promise<(operations: number) => void | Promise<void>>;

/** A row whose samples come from a loop in a process of its own. */
export interface LoopRow extends Omit<Row, 'samples'> {
  readonly loop: string;
  /** Per round, at full depth. */
  readonly operations: number;
}

/** Runs loops in turn, each in its own process, and answers their rows. */
export async function measureLoops(
  rows: readonly LoopRow[],
  depth: Depth,
  sampleOf: (cpuMicros: number) => number = (cpuMicros) => cpuMicros,
): Promise<Row[]> {
  const children = await startAll(rows);
  try {
    const contestants = children.map(({ child, loop, operations }) => {
      const count = Math.ceil(operations / depth.shortening);
      return {
        name: loop,
        measure: async () => sampleOf(await child.cpuMicrosPerOperation(count)),
      };
    });
    const samplesOf = await runRounds(contestants, depth);
    return rows.map((row) => ({ ...row, samples: samplesOf(row.loop) }));
  } finally {
    await Promise.all(children.map(({ child }) => child[Symbol.asyncDispose]()));
  }
}

function startAll(rows: readonly LoopRow[]) {
  const module = new URL('loop-child.js', import.meta.url);
  return Promise.all(
    rows.map(async ({ loop, operations }) => {
      const child = await MeasuredChild.start(module, [loop]);
      return { child, loop, operations };
    }),
  );
}
