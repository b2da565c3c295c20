export interface Dot {
  readonly x: number;
  readonly y: number;
}

export interface Scale {
  /** Where a time and a duration stand, in 0..1 from the lower left corner. */
  readonly place: (timeMs: number, durationMs: number) => Dot;
  readonly timesMs: readonly number[];
  readonly durationsMs: readonly number[];
}

interface Point {
  readonly timeMs: number;
  readonly durationMs: number;
}

/**
 * Lays out times against durations. Durations of traces span decades, so their axis is logarithmic once the
 * longest is more than fifty times the shortest.
 */
export function scaleOf(points: readonly Point[]): Scale {
  const times = points.map(({ timeMs }) => timeMs);
  const durations = points.map(({ durationMs }) => Math.max(1, durationMs));
  const [from, to] = widen(Math.min(...times), Math.max(...times));
  const least = Math.min(...durations);
  const most = Math.max(...durations);
  const isLogarithmic = most / least > 50;
  const bend = isLogarithmic ? Math.log10 : (value: number) => value;
  const low = isLogarithmic ? Math.floor(Math.log10(least)) : 0;
  const high = isLogarithmic ? Math.ceil(Math.log10(most)) : roundUp(most);
  return {
    place: (timeMs, durationMs) => ({
      x: (timeMs - from) / (to - from),
      y: (bend(Math.max(1, durationMs)) - low) / (high - low),
    }),
    timesMs: evenly(from, to, 5),
    durationsMs: isLogarithmic
      ? evenly(low, high, high - low + 1).map((power) => 10 ** power)
      : evenly(0, high, 5),
  };
}

/** So many values from one to the other, both included. */
export function evenly(from: number, to: number, count: number): number[] {
  return Array.from(
    { length: count },
    (_, at) => from + ((to - from) * at) / Math.max(1, count - 1),
  );
}

/** The next value that reads well, also in quarters. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 3, 4, 5, 6, 8, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}

function widen(from: number, to: number): readonly [number, number] {
  return from === to ? [from - 30_000, to + 30_000] : [from, to];
}
