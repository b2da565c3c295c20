import type { Additions, CellColumns, Level } from './series.ts';

/** Parts of a statement: `with <ctes>, …` and the parameters that they name. */
export interface StatementParts {
  readonly ctes: readonly string[];
  readonly parameters: readonly unknown[];
}

const levels: readonly Level[] = ['minute', 'hour', 'day'];

/**
 * What adds to the series as parts of a statement, whose parameters are numbered from
 * `firstParameter`. Replicas may add to the same cells at once: each adds to what it finds, in the
 * order of the key, and none overwrites.
 */
export function applyAdditions(
  { series, cells }: Additions,
  firstParameter: number,
): StatementParts {
  const ctes: string[] = [];
  const parameters: unknown[] = [];
  const place = (values: readonly unknown[], type: string) => {
    parameters.push(values);
    return `$${firstParameter + parameters.length - 1}::${type}`;
  };
  if (series.ids.length > 0) {
    ctes.push(`added_series as (
      insert into tracer.series (id, kind, labels)
      select n.id, n.kind, array(select jsonb_array_elements_text(n.labels::jsonb))
      from unnest(${place(series.ids, 'bigint[]')}, ${place(series.kinds, 'text[]')},
        ${place(series.labels, 'text[]')}) as n (id, kind, labels)
      order by 1 on conflict (id) do nothing)`);
  }
  for (const level of levels) {
    if (cells[level].seriesIds.length > 0) ctes.push(addedCells(level, cells[level], place));
  }
  return { ctes, parameters };
}

type Place = (values: readonly unknown[], type: string) => string;

function addedCells(level: Level, columns: CellColumns, place: Place): string {
  return `added_${level} as (
    insert into tracer.cell_${level} as c (series_id, bucket, count, errors, sum, bins, bin_counts)
    select n.series_id, n.bucket, n.count, n.errors, n.sum, n.bins::smallint[], n.bin_counts::integer[]
    from unnest(${place(columns.seriesIds, 'bigint[]')}, ${place(columns.buckets, 'integer[]')},
      ${place(columns.counts, 'bigint[]')}, ${place(columns.errors, 'bigint[]')},
      ${place(columns.sums, 'double precision[]')}, ${place(columns.bins, 'text[]')},
      ${place(columns.binCounts, 'text[]')})
      as n (series_id, bucket, count, errors, sum, bins, bin_counts)
    order by 1, 2
    on conflict (series_id, bucket) do update set
      count = c.count + excluded.count,
      errors = c.errors + excluded.errors,
      sum = c.sum + excluded.sum,
      (bins, bin_counts) = (select m.merged, m.merged_counts from tracer.merge_bins(
        c.bins, c.bin_counts, excluded.bins, excluded.bin_counts) as m))`;
}
