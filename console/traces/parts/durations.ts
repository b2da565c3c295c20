import { formatCount, formatDuration } from '../../ui/text.ts';

const unitsMs: Readonly<Record<string, number>> = {
  us: 0.001,
  µs: 0.001,
  ms: 1,
  '': 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
};

/** The milliseconds of `250`, `1.5s` or `2 min`, whole; undefined for what is no duration. */
export function readDuration(text: string): number | undefined {
  const [, digits, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*$/i.exec(text) ?? [];
  const factor = unitsMs[unit.toLowerCase()];
  return digits === undefined || factor === undefined
    ? undefined
    : Math.round(Number(digits) * factor);
}

/** Microseconds in the unit that reads best; a waterfall is about parts of a millisecond too. */
export function formatMicros(us: number): string {
  if (us === 0) return '0';
  if (Math.abs(us) < 1_000) return `${us} µs`;
  const ms = us / 1_000;
  if (Math.abs(ms) < 1_000) return `${ms.toFixed(Math.abs(ms) < 100 ? 2 : 0)} ms`;
  const seconds = ms / 1_000;
  if (Math.abs(seconds) < 60) return `${seconds.toFixed(2)} s`;
  return `${(seconds / 60).toFixed(1)} min`;
}

/** A change of milliseconds, with its sign. */
export function formatChange(ms: number): string {
  if (ms === 0) return '0';
  return `${ms > 0 ? '+' : '−'}${formatDuration(Math.abs(ms))}`;
}

/** So many a second, in the unit in which it is no small fraction. */
export function formatRate(perSecond: number): string {
  const [unit, factor] = rateUnits.find(([, many]) => perSecond * many >= 1) ?? ['h', 3_600];
  const rate = perSecond * factor;
  return rate === 0
    ? '0'
    : `${rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate))}/${unit}`;
}

const rateUnits = [
  ['s', 1],
  ['min', 60],
] as const;
