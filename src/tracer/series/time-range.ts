import { cellMinutes, keptMinutes, usPerMinute } from './cells.ts';
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

/** The minutes that lie, if only in part, between two times in microseconds since the epoch. */
export function minutesOf(range: { readonly fromUs: number; readonly toUs: number }): MinuteSpan {
  const { fromUs, toUs } = range;
  return { from: Math.floor(fromUs / usPerMinute), to: Math.ceil(toUs / usPerMinute) };
}

/** The span of a range that ends now. */
export function spanOf(range: TimeRange, nowMs: number): MinuteSpan {
  const to = Math.floor(nowMs / 60_000) + 1;
  return { from: to - timeRanges[range], to };
}

const coarseFromMinutes = 7 * 1_440;

/**
 * The fewest cells that cover a span: whole hours and minutes at its edges, of a week or more whole days
 * too. Where the finer cells are not kept any more the edges are rounded outwards; what is older than
 * the cells are kept is never read. A span that reaches the present ends with a coarse cell, for nothing
 * lies behind it. With `fine` all cells are those of the edges.
 */
export function segmentsOf(
  { from, to }: MinuteSpan,
  nowMs: number,
  widths: 'mixed' | 'fine' = 'mixed',
): Segment[] {
  const now = Math.floor(nowMs / 60_000);
  const level = edgeLevel(from, now);
  const width = cellMinutes[level];
  const start = Math.max(floorTo(from, width), ceilTo(now - keptMinutes[level], width));
  const edges: Segment = { level, from: start, to: ceilTo(to, width) };
  if (widths === 'fine') return segments([edges]);
  const isWide = level !== 'minute' || to - from >= coarseFromMinutes;
  return coarsened(edges, { coarsest: isWide ? 'day' : 'hour', isOpen: to > now });
}

function edgeLevel(from: number, now: number): Level {
  if (from < now - keptMinutes.hour - cellMinutes.hour) return 'day';
  return from < now - keptMinutes.minute ? 'hour' : 'minute';
}

/** Coarser cells wherever whole ones lie within a segment; of an open one nothing lies behind its end. */
function coarsened(
  segment: Segment,
  limit: { readonly coarsest: Level; readonly isOpen: boolean },
): Segment[] {
  const { level, from, to } = segment;
  if (level === limit.coarsest) return segments([segment]);
  const coarse = level === 'minute' ? 'hour' : 'day';
  const width = cellMinutes[coarse];
  const start = ceilTo(from, width);
  const end = limit.isOpen ? ceilTo(to, width) : floorTo(to, width);
  if (start >= end) return segments([segment]);
  return segments([
    { level, from, to: start },
    ...coarsened({ level: coarse, from: start, to: end }, limit),
    { level, from: end, to },
  ]);
}

/** Where what segments hold begins and ends; without segments, the span that was asked for. */
export function coveredBy(all: readonly Segment[], asked: MinuteSpan): MinuteSpan {
  return { from: all[0]?.from ?? asked.from, to: all.at(-1)?.to ?? asked.to };
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
