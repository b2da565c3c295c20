import type { Database } from '../../kit/database/database.ts';
import { valueOf } from './histogram.ts';
import { storedLabel } from './series-id.ts';
import type { SeriesKind } from './series.ts';
import type { Segment } from './time-range.ts';

/** What statements about the series run on. */
export type SeriesSql = Pick<Database, 'query'>;

/** What a series says of a span of time. */
export interface SeriesStats {
  readonly labels: readonly string[];
  readonly count: number;
  readonly errors: number;
  /** Microseconds, tokens or millionths of a dollar. */
  readonly sum: number;
  /** In the order in which they were asked for; empty of series that have no histogram. */
  readonly quantiles: readonly number[];
}

export interface StatsQuery {
  readonly kind: SeriesKind;
  readonly segments: readonly Segment[];
  /** Shares, 0..1, whose quantiles are wanted; none by default. */
  readonly quantiles?: readonly number[];
  /** Only series with these labels, by position; an undefined label is any. */
  readonly labels?: readonly (string | undefined)[];
  /** Only these series, by their numbers. */
  readonly ids?: readonly number[];
  /** What comes first where there are more than `limit`. */
  readonly order?: 'count' | 'errors' | 'average';
  readonly limit: number;
}

interface StatsRow {
  readonly labels: string[];
  readonly count: number;
  readonly errors: number;
  readonly sum: number;
  readonly bins: (number | null)[] | null;
}

const orders = {
  count: 't.count desc, t.sum desc',
  errors: 't.errors desc, t.count desc',
  average: 't.sum / t.count desc, t.count desc',
};

/** Adds the cells of each series of a kind up; those with nothing in the span are left out. */
export async function readStats(sql: SeriesSql, query: StatsQuery): Promise<SeriesStats[]> {
  const { quantiles = [], order = 'count', limit } = query;
  const { text, parameters } = cellsOf(query, quantiles.length > 0);
  if (text === undefined) return [];
  const sums = `
    select series_id, sum(count)::bigint as count, sum(errors)::bigint as errors, sum(sum) as sum,
      null::integer[] as bins
    from cells group by 1`;
  const rows = await sql.query<StatsRow>(
    `with cells as materialized (${text}),
     totals as materialized (${quantiles.length > 0 ? withQuantiles(sums, quantiles) : sums}),
     first as materialized (
       select * from totals t where t.count > 0 order by ${orders[order]}, series_id limit ${limit})
     select s.labels, t.count, t.errors, t.sum, t.bins
     from first t join tracer.series s on s.id = t.series_id
     order by ${orders[order]}, s.labels`,
    parameters,
  );
  return rows.map(toStats);
}

/** How many series of a kind have something in the span. */
export async function countSeries(
  sql: SeriesSql,
  query: Pick<StatsQuery, 'kind' | 'segments'>,
): Promise<number> {
  const { text, parameters } = cellsOf(query, false);
  if (text === undefined) return 0;
  const [row] = await sql.query<{ total: number }>(
    `select count(*) as total from (
       select from (${text}) as cells group by series_id having sum(count) > 0) as filled`,
    parameters,
  );
  return row?.total ?? 0;
}

/**
 * The window sum over the bins says at which each share is passed. Sums and quantiles are brought
 * together by grouping: a join would be planned by what the database knows of fresh cells, nothing.
 */
function withQuantiles(sums: string, quantiles: readonly number[]): string {
  const passed = quantiles.map((q) => `min(bin) filter (where upto >= greatest(1, ${q} * total))`);
  return `
    select series_id, max(count) as count, max(errors) as errors, max(sum) as sum, max(bins) as bins
    from (
      ${sums}
      union all
      select series_id, null, null, null, array[${passed.join(', ')}]::integer[]
      from (
        select series_id, bin, sum(n) over (partition by series_id order by bin) as upto,
          sum(n) over (partition by series_id) as total
        from (
          select series_id, u.bin, sum(u.n) as n
          from cells, unnest(bins, bin_counts) as u (bin, n)
          group by 1, 2 having sum(u.n) > 0) as filled) as ranked
      group by 1) as parts
    group by 1`;
}

/** A statement that finds cells; undefined where there can be none. */
export interface CellsStatement {
  readonly text: string | undefined;
  readonly parameters: readonly unknown[];
}

/** Finds the cells of the series of a kind. */
export function cellsOf(
  { kind, segments, labels = [], ids }: Omit<StatsQuery, 'limit'>,
  hasBins: boolean,
): CellsStatement {
  const parameters: unknown[] = [kind];
  let wanted = 's.kind = $1';
  labels.forEach((label, at) => {
    if (label === undefined) return;
    parameters.push(storedLabel(label));
    wanted += ` and s.labels[${at + 1}] = $${parameters.length}`;
  });
  if (ids !== undefined) {
    parameters.push(ids);
    wanted += ` and s.id = any($${parameters.length}::bigint[])`;
  }
  if (segments.length === 0) return { text: undefined, parameters };
  const bins = hasBins ? ', c.bins, c.bin_counts' : '';
  // Levels and bounds are words and numbers of ours; said in the text, they choose the partitions.
  const parts = segments.map(
    ({ level, from, to }) =>
      `select c.series_id, c.bucket, c.count, c.errors, c.sum${bins}
       from tracer.cell_${level} c
       where c.series_id = any(array(select s.id from tracer.series s where ${wanted}))
         and c.bucket >= ${from} and c.bucket < ${to}`,
  );
  return { text: parts.join(' union all '), parameters };
}

function toStats({ labels, count, errors, sum, bins }: StatsRow): SeriesStats {
  const quantiles = (bins ?? []).map((bin) => valueOf(bin ?? 0));
  return { labels, count, errors, sum, quantiles };
}
