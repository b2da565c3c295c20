import { readBlocks, type StoredBlock } from './block-store.ts';
import { addBlock } from './cell-block.ts';
import type { Cell } from './cells.ts';
import { findSeries, readLabels } from './labels-store.ts';
import { Histogram } from './histogram.ts';
import type { SeriesKind } from './series.ts';
import { inTurns } from './turns.ts';
import type { Segment } from './time-range.ts';
import type { SeriesSql } from './tables.ts';

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
  readonly order?: Order;
  readonly limit: number;
}

type Order = 'count' | 'errors' | 'average';

type Ranked = readonly [id: number, cell: Cell];

const orders: Readonly<Record<Order, (one: Cell, other: Cell) => number>> = {
  count: (one, other) => other.count - one.count || other.sum - one.sum,
  errors: (one, other) => other.errors - one.errors || other.count - one.count,
  average: (one, other) => other.sum / other.count - one.sum / one.count || other.count - one.count,
};

/** Adds the cells of each series of a kind up; those with nothing in the span are left out. */
export async function readStats(sql: SeriesSql, query: StatsQuery): Promise<SeriesStats[]> {
  const { kind, segments, quantiles = [], labels = [], order = 'count', limit } = query;
  const isNarrowed = labels.some((label) => label !== undefined);
  const [blocks, named] = await Promise.all([
    readBlocks(sql, kind, segments),
    isNarrowed ? findSeries(sql, kind, labels) : undefined,
  ]);
  const ids = named ?? query.ids;
  const totals = await addUp(blocks, {
    hasBins: quantiles.length > 0,
    ids: ids === undefined ? undefined : new Set(ids),
  });
  const first = [...totals]
    .filter(([, { count }]) => count > 0)
    .toSorted(([id, one], [otherId, other]) => orders[order](one, other) || id - otherId)
    .slice(0, limit);
  return describe(
    first,
    await readLabels(
      sql,
      first.map(([id]) => id),
    ),
    { quantiles, order },
  );
}

/** How many series of a kind have something in the span. */
export async function countSeries(
  sql: SeriesSql,
  { kind, segments }: Pick<StatsQuery, 'kind' | 'segments'>,
): Promise<number> {
  const totals = await addUp(await readBlocks(sql, kind, segments), { hasBins: false });
  return [...totals.values()].filter(({ count }) => count > 0).length;
}

interface Wanted {
  readonly hasBins: boolean;
  readonly ids?: ReadonlySet<number> | undefined;
}

async function addUp(
  blocks: readonly StoredBlock[],
  wanted: Wanted,
): Promise<ReadonlyMap<number, Cell>> {
  const totals = new Map<number, Cell>();
  await inTurns(blocks, ({ block }) => addBlock(block, totals, wanted));
  return totals;
}

function describe(
  ranked: readonly Ranked[],
  labelsOf: ReadonlyMap<number, readonly string[]>,
  { quantiles, order }: { readonly quantiles: readonly number[]; readonly order: Order },
): SeriesStats[] {
  const named = ranked.flatMap(([id, cell]) => {
    const labels = labelsOf.get(id);
    return labels === undefined ? [] : { labels, cell };
  });
  named.sort((one, other) => orders[order](one.cell, other.cell) || compare(one, other));
  return named.map(({ labels, cell }) => {
    const { count, errors, sum, bins } = cell;
    const found = quantiles.length > 0 ? Histogram.of([...bins]).quantiles(quantiles) : [];
    return { labels, count, errors, sum, quantiles: found };
  });
}

interface Labelled {
  readonly labels: readonly string[];
}

function compare({ labels }: Labelled, { labels: others }: Labelled): number {
  for (const [at, label] of labels.entries()) {
    const other = others[at] ?? '';
    if (label !== other) return label < other ? -1 : 1;
  }
  return 0;
}
