import { median } from './figure.ts';

/** How long a step takes that is taken so many times, one after the other: the median. */
export async function medianMs(
  step: (turn: number) => Promise<unknown>,
  times: number,
): Promise<number> {
  const samples: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const startedAt = performance.now();
    await step(turn);
    samples.push(performance.now() - startedAt);
  }
  return median(samples);
}

/** What each round took beyond the same round of what stands behind it. */
export function addedTo(direct: readonly number[], samples: readonly number[]): number[] {
  return samples.map((sample, round) => sample - (direct[round] ?? Number.NaN));
}
