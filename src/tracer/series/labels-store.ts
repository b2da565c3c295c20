import { readCellLog } from './cell-log.ts';
import { addBlock } from './cell-block.ts';
import type { Cell } from './cells.ts';
import { storedLabel } from './series-id.ts';
import { seriesKinds, type SeriesKind } from './series.ts';
import type { SeriesSql } from './tables.ts';

/** The labels of series, by their ids. */
export async function readLabels(
  sql: SeriesSql,
  ids: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.query<{ id: number; labels: string[] }>(
    'select id, labels from tracer.series where id = any($1::bigint[])',
    [ids],
  );
  return new Map(rows.map(({ id, labels }) => [id, labels]));
}

/** The ids of the series of a kind with these labels, by position; an undefined label is any. */
export async function findSeries(
  sql: SeriesSql,
  kind: SeriesKind,
  labels: readonly (string | undefined)[],
): Promise<number[]> {
  const parameters: unknown[] = [kind];
  let wanted = 'kind = $1';
  for (const [at, label] of labels.entries()) {
    if (label === undefined) continue;
    parameters.push(storedLabel(label));
    wanted += ` and labels[${at + 1}] = $${parameters.length}`;
  }
  const rows = await sql.query<{ id: number }>(
    `select id from tracer.series where ${wanted}`,
    parameters,
  );
  return rows.map(({ id }) => id);
}

/** Forgets the labels of series of which nothing is left. */
export async function deleteEmptySeries(sql: SeriesSql): Promise<void> {
  const logged = await sql.query<{ body: Buffer }>('select body from tracer.cell_log');
  for (const [number, kind] of seriesKinds.entries()) {
    const known = await sql.query<{ id: number }>('select id from tracer.series where kind = $1', [
      kind,
    ]);
    const days = await sql.query<{ body: Buffer }>(
      'select body from tracer.block_day where kind = $1',
      [number],
    );
    const cells = new Map<number, Cell>();
    for (const { body } of days) addBlock(body, cells, { hasBins: false });
    for (const { body } of logged) {
      for (const { kind: of, block } of readCellLog(body)) {
        if (of === kind) addBlock(block, cells, { hasBins: false });
      }
    }
    const empty = known.map(({ id }) => id).filter((id) => !cells.has(id));
    if (empty.length === 0) continue;
    await sql.query('delete from tracer.series where id = any($1::bigint[])', [empty]);
  }
}
