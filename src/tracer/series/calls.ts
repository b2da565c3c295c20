import { readStats, type SeriesSql } from './stats-store.ts';
import { segmentsOf } from './time-range.ts';

/** How often a service called another one. */
export interface CallCount {
  readonly parent: string;
  readonly child: string;
  readonly callCount: number;
}

const callsMax = 10_000;
const usPerMinute = 60_000_000;

/** Calls between services within a range, in microseconds since the epoch, rounded out to cells. */
export async function readCalls(
  sql: SeriesSql,
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
  nowMs: number,
): Promise<CallCount[]> {
  const span = { from: Math.floor(fromUs / usPerMinute), to: Math.ceil(toUs / usPerMinute) };
  const segments = segmentsOf(span, nowMs);
  const rows = await readStats(sql, { kind: 'edge', segments, limit: callsMax });
  return rows.map(({ labels: [parent = '', child = ''], count }) => ({
    parent,
    child,
    callCount: count,
  }));
}
