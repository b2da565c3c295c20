import { readBlocks } from './block-store.ts';
import { addBlock } from './cell-block.ts';
import { Cell } from './cells.ts';
import { seriesIdOf } from './series-id.ts';
import type { SeriesKind } from './series.ts';
import type { SeriesSql } from './tables.ts';
import type { Segment } from './time-range.ts';
import { inTurns } from './turns.ts';

/** The series of a kind, or the one of them with these labels. */
export interface SeriesChoice {
  readonly kind: SeriesKind;
  readonly labels?: readonly string[] | undefined;
}

/** The cells of series by the minute at which they begin, those of one time added up. */
export async function readTimeCells(
  sql: SeriesSql,
  { kind, labels }: SeriesChoice,
  segments: readonly Segment[],
): Promise<ReadonlyMap<number, Cell>> {
  const ids = labels === undefined ? undefined : new Set([seriesIdOf(kind, labels)]);
  const cells = new Map<number, Cell>();
  await inTurns(await readBlocks(sql, kind, segments), ({ bucket, block }) => {
    const found = new Map<number, Cell>();
    addBlock(block, found, { ids, hasBins: true });
    const cell = cells.get(bucket) ?? new Cell();
    cells.set(bucket, cell);
    for (const one of found.values()) cell.merge(one);
  });
  return cells;
}
