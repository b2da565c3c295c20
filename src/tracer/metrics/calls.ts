import { readStats } from '../series/stats.ts';
import type { SeriesSql } from '../series/tables.ts';
import { minutesOf, segmentsOf } from '../series/time-range.ts';

/** How often a service called another one. */
export interface CallCount {
  readonly parent: string;
  readonly child: string;
  readonly callCount: number;
}

const callsMax = 10_000;

/** Calls between services within a range, in microseconds since the epoch, rounded out to cells. */
export async function readCalls(
  sql: SeriesSql,
  range: { readonly fromUs: number; readonly toUs: number },
  nowMs: number,
): Promise<CallCount[]> {
  const segments = segmentsOf(minutesOf(range), nowMs);
  const rows = await readStats(sql, { kind: 'edge', segments, limit: callsMax });
  return rows.map(({ labels: [parent = '', child = ''], count }) => ({
    parent,
    child,
    callCount: count,
  }));
}
