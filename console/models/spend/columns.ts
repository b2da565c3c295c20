/** A bar of a chart, in the chart's own units. */
export interface Bar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

const gapShare = 0.2;

/** Bars that stand beside each other; the greatest value has the full height. */
export function layColumns(
  values: readonly number[],
  { width, height }: ChartSize,
): readonly Bar[] {
  const greatest = Math.max(...values, 0);
  const step = width / Math.max(values.length, 1);
  return values.map((value, index) => {
    const tall = greatest === 0 ? 0 : (Math.max(value, 0) / greatest) * height;
    return {
      x: index * step + (step * gapShare) / 2,
      y: height - tall,
      width: step * (1 - gapShare),
      height: tall,
    };
  });
}

const dayMs = 86_400_000;
const daysMax = 370;

/** All days from one to another, both included, as `2026-11-21`. */
export function daysBetween(from: string, to: string): readonly string[] {
  const first = Date.parse(from);
  const count = Math.floor((Date.parse(to) - first) / dayMs) + 1;
  if (!(count > 0)) return [];
  return Array.from({ length: Math.min(count, daysMax) }, (_, index) =>
    new Date(first + index * dayMs).toISOString().slice(0, 10),
  );
}
