import type { AlertSql } from './alert-store.ts';
import type { AlertMetrics, ExampleOrder } from './metric-source.ts';

type ExampleQuery = Parameters<NonNullable<AlertMetrics['examples']>>[0];

/** The newest that are looked at. */
const candidatesMax = 2_000;

const filters: Readonly<Record<ExampleOrder, string>> = {
  failed: 'and status > 0',
  slowest: '',
  latest: '',
};

const orders: Readonly<Record<ExampleOrder, string>> = {
  failed: 'start_us desc',
  slowest: 'end_us - start_us desc, start_us desc',
  latest: 'start_us desc',
};

/** Ids of complete traces, the best examples first, of the newest two thousand in the range. */
export async function findExamples(
  sql: AlertSql,
  { fromUs, toUs, agent, operation, order, limit }: ExampleQuery,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select replace(trace_id::text, '-', '') as id from (
       select trace_id, start_us, end_us from tracer.trace
       where start_us >= $1 and start_us < $2 ${filters[order]}
         and ($3::text is null or agent = $3) and ($4::text is null or name = $4)
       order by start_us desc limit ${candidatesMax}) as newest
     order by ${orders[order]}, id limit $5`,
    [fromUs, toUs, agent ?? null, operation ?? null, limit],
  );
  return rows.map(({ id }) => id);
}
