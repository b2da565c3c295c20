import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';

/** Where a trace's spans lie. */
export interface TracePlace {
  readonly traceId: string;
  readonly isComplete: boolean;
  readonly revision: number;
  readonly chunks: readonly number[];
}

/** Where a trace is stored; a Fault `not_found` when it is not (any more). */
export async function findTrace(database: Database, traceId: string): Promise<TracePlace> {
  const rows = await database.query<{ chunks: number[]; completions: number | null }>(
    `select chunks, completions from tracer.trace where trace_id = $1::uuid
     union all
     select chunks, null from tracer.open_trace where trace_id = $1::uuid`,
    [traceId],
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
