import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { isShown, type ShownFrom } from './list-store.ts';

/** Where a trace's spans lie. */
export interface TracePlace {
  readonly traceId: string;
  readonly isComplete: boolean;
  readonly revision: number;
  readonly chunks: readonly number[];
}

/** Where a trace is stored; a Fault `not_found` when it is not, or is not shown any more. */
export async function findTrace(
  database: Database,
  traceId: string,
  { oldestDay, receivedAfterMs }: ShownFrom,
): Promise<TracePlace> {
  const rows = await database.query<{ chunks: number[]; completions: number | null }>(
    `select chunks, completions from tracer.trace where trace_id = $3::uuid and ${isShown}
     union all
     select chunks, null from tracer.open_trace where trace_id = $3::uuid and ${isShown}`,
    [oldestDay, receivedAfterMs, traceId],
  );
  if (rows.length === 0) {
    throw new Fault('not_found', `no trace ${traceId} is stored`, {
      reason: 'trace_not_found',
      detail: { traceId },
    });
  }
  return {
    traceId,
    isComplete: rows.every(({ completions }) => completions !== null),
    revision: Math.max(1, ...rows.map(({ completions }) => completions ?? 0)),
    chunks: [...new Set(rows.flatMap(({ chunks }) => chunks))],
  };
}
