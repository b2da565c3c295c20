import { cellMinutes, keptMinutes } from './cells.ts';
import type { Level } from './series.ts';

/** How far back a question reaches, as the API writes it, in minutes. */
export const timeRanges = { '1h': 60, '24h': 1_440, '7d': 10_080, '30d': 43_200 } as const;

export type TimeRange = keyof typeof timeRanges;

/** Minutes since the epoch, the first included and the last not. */
export interface MinuteSpan {
  readonly from: number;
  readonly to: number;
}

/** Cells of one level that are read for a span. */
export interface Segment extends MinuteSpan {
  readonly level: Level;
}

/** The span of a range that ends now. */
export function spanOf(range: TimeRange, nowMs: number): MinuteSpan {
  const to = Math.floor(nowMs / 60_000) + 1;
  return { from: to - timeRanges[range], to };
}

const coarseFromMinutes = 7 * 1_440;

/**
 * The fewest cells that cover a span: whole hours and minutes at its edges, of a week or more whole
 * days and hours. Where the finer cells are not kept any more the edges are rounded outwards; what is
 * older than the cells are kept is never read. A span that reaches the present ends with a coarse cell,
 * for nothing lies behind it. With `fine` all cells are those of the edges.
 */
export function segmentsOf(
  { from, to }: MinuteSpan,
  nowMs: number,
  widths: 'mixed' | 'fine' = 'mixed',
): Segment[] {
  const now = Math.floor(nowMs / 60_000);
  const fine = edgeLevel({ from, to }, now);
  const fineWidth = cellMinutes[fine];
  const start = Math.max(floorTo(from, fineWidth), ceilTo(now - keptMinutes[fine], fineWidth));
  const end = ceilTo(to, fineWidth);
  const coarse = coarserOf(fine);
  const width = cellMinutes[coarse];
  const coarseStart = ceilTo(start, width);
  const coarseEnd = to > now ? ceilTo(end, width) : floorTo(end, width);
  if (coarseStart >= coarseEnd || widths === 'fine') {
    return segments([{ level: fine, from: start, to: end }]);
  }
  return segments([
    { level: fine, from: start, to: coarseStart },
    { level: coarse, from: coarseStart, to: coarseEnd },
    { level: fine, from: coarseEnd, to: end },
  ]);
}

function edgeLevel({ from, to }: MinuteSpan, now: number): Level {
  if (from < now - keptMinutes.hour - cellMinutes.hour) return 'day';
  const isWide = to - from >= coarseFromMinutes;
  return isWide || from < now - keptMinutes.minute ? 'hour' : 'minute';
}

function coarserOf(level: Level): Level {
  return level === 'minute' ? 'hour' : 'day';
}

function segments(all: readonly Segment[]): Segment[] {
  return all.filter(({ from, to }) => from < to);
}

function floorTo(minute: number, width: number): number {
  return Math.floor(minute / width) * width;
}

function ceilTo(minute: number, width: number): number {
  return Math.ceil(minute / width) * width;
}
