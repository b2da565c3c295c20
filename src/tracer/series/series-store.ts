import type { Additions } from './series.ts';

/** Parts of a statement: `with <ctes>, …` and the parameters that they name. */
export interface StatementParts {
  readonly ctes: readonly string[];
  readonly parameters: readonly unknown[];
}

/**
 * What adds to the series as parts of a statement, whose parameters are numbered from
 * `firstParameter`. Replicas may do so at once: each appends, and none overwrites.
 */
export function applyAdditions(
  { series, cells }: Additions,
  firstParameter: number,
): StatementParts {
  const ctes: string[] = [];
  const parameters: unknown[] = [];
  const place = (value: unknown, type: string) => {
    parameters.push(value);
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
  if (cells.length > 0) {
    const body = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength);
    ctes.push(`added_cells as (
      insert into tracer.cell_log (body) values (${place(body, 'bytea')}))`);
  }
  return { ctes, parameters };
}
