import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { isShown, openParts, type ShownFrom } from './list-sql.ts';
import type { FoundTrace } from './messages.ts';

interface Row {
  /** Null of an open trace. */
  readonly completions: number | null;
  /** Null where the chunks are not kept any more. */
  readonly id: number | null;
  readonly body: Buffer | null;
}

/**
 * A trace as it is stored, its chunks in the order in which they came; a Fault `not_found` when it is not
 * stored, or is not shown any more.
 */
export async function findTrace(
  database: Database,
  traceId: string,
  { oldestDay, receivedAfterMs, hasOpenRow }: ShownFrom & { readonly hasOpenRow: boolean },
): Promise<FoundTrace> {
  const { ifAny } = openParts(hasOpenRow);
  const rows = await database.query<Row>(
    `select t.completions, c.id, c.body from (
       select chunks, completions from tracer.trace where trace_id = $3::uuid and ${isShown}
       ${ifAny(`union all
       select chunks, null from tracer.open_trace where trace_id = $3::uuid and ${isShown}`)}
     ) as t left join lateral (
       select id, body from tracer.chunk where id = any(t.chunks)
     ) c on true
     order by t.completions nulls last, array_position(t.chunks, c.id)`,
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
    chunks: [...new Map(rows.map(({ id, body }) => [id, body])).values()].filter(
      (body) => body !== null,
    ),
  };
}
