import { usPerMinute } from './cells.ts';
import { binsPerLog } from './histogram.ts';
import { storedLabel } from './series-id.ts';
import { cellsOf, type CellsStatement, type SeriesSql } from './stats-store.ts';
import { segmentsOf, type MinuteSpan } from './time-range.ts';

/** Traces of a span of time, all or those of an agent, of a name, or of both. */
export interface TraceQuery extends MinuteSpan {
  readonly agent: string | undefined;
  readonly name: string | undefined;
  readonly nowMs: number;
}

/** What traces add up to; durations in microseconds. */
export interface TraceSums {
  readonly count: number;
  readonly errors: number;
  readonly sum: number;
  readonly bins: readonly number[];
  readonly binCounts: readonly number[];
}

/** The same of a part of the span, which begins at a minute since the epoch. */
export interface TraceStep extends TraceSums {
  readonly minute: number;
}

interface StepRow {
  readonly minute: number;
  readonly count: number;
  readonly errors: number;
  readonly sum: number;
  readonly bins: number[] | null;
  readonly bin_counts: number[] | null;
}

/** Adds the traces of a query up. */
export async function readTraceSums(sql: SeriesSql, query: TraceQuery): Promise<TraceSums> {
  const [step] = await readTraceSteps(sql, { ...query, stepMinutes: query.to - query.from });
  return step ?? { count: 0, errors: 0, sum: 0, bins: [], binCounts: [] };
}

/** The same in steps of so many minutes; those without traces are left out. */
export async function readTraceSteps(
  sql: SeriesSql,
  query: TraceQuery & { readonly stepMinutes: number },
): Promise<TraceStep[]> {
  const { from, to, stepMinutes } = query;
  const isWhole = stepMinutes >= to - from;
  const { text, parameters } = traceCells(query, isWhole);
  if (text === undefined || to <= from) return [];
  const step = isWhole ? '0' : `greatest(0, (bucket - ${from}) / ${stepMinutes})`;
  const rows = await sql.query<StepRow>(
    `with cells as materialized (select ${step} as step, c.* from (${text}) as c),
     filled as (
       select step, u.bin, sum(u.n)::bigint as n
       from cells, unnest(bins, bin_counts) as u (bin, n) group by 1, 2 having sum(u.n) > 0),
     histograms as (
       select step, array_agg(bin order by bin) as bins, array_agg(n order by bin) as bin_counts
       from filled group by 1),
     totals as (
       select step, sum(count)::bigint as count, sum(errors)::bigint as errors, sum(sum) as sum
       from cells group by 1 having sum(count) > 0)
     select ${from} + step * ${stepMinutes} as minute, count, errors, sum, bins, bin_counts
     from totals left join histograms using (step) order by step`,
    parameters,
  );
  return rows.map(({ minute, count, errors, sum, bins, bin_counts: binCounts }) => ({
    minute,
    count,
    errors,
    sum,
    bins: bins ?? [],
    binCounts: binCounts ?? [],
  }));
}

/** By the series of one label; traces of an agent and a name together are counted row by row. */
function traceCells(
  { agent, name, nowMs, from, to }: TraceQuery,
  isWhole: boolean,
): CellsStatement {
  if (agent !== undefined && name !== undefined) return traceRows({ agent, name, from, to });
  const segments = segmentsOf({ from, to }, nowMs, isWhole ? 'mixed' : 'fine');
  if (agent !== undefined) return cellsOf({ kind: 'traceAgent', labels: [agent], segments }, true);
  if (name !== undefined) return cellsOf({ kind: 'traceName', labels: [name], segments }, true);
  return cellsOf({ kind: 'traceStatus', segments }, true);
}

/** Each trace as a cell of its own. */
function traceRows({ agent, name, from, to }: MinuteSpan & { agent: string; name: string }) {
  const lasted = '(t.end_us - t.start_us)';
  const text = `
    select (t.start_us / ${usPerMinute})::integer as bucket, 1 as count,
      (t.status > 0)::integer as errors, ${lasted}::double precision as sum,
      array[case when ${lasted} < 1 then 0
        else 1 + ceil(ln(${lasted}::double precision) * ${binsPerLog}) end]::smallint[] as bins,
      array[1] as bin_counts
    from tracer.trace t
    where t.agent = $1 and t.name = $2 and t.start_us >= $3 and t.start_us < $4`;
  const texts = [agent, name].map(storedLabel);
  return { text, parameters: [...texts, from * usPerMinute, to * usPerMinute] };
}
