import { readCellLog } from './cell-log.ts';
import { seriesKinds, type Level, type SeriesKind } from './series.ts';
import type { SeriesSql } from './tables.ts';
import type { Segment } from './time-range.ts';

/** Cells of a kind as they are stored; blocks of one bucket add up. */
export interface StoredBlock {
  /** The minute since the epoch at which its cells begin. */
  readonly bucket: number;
  readonly block: Uint8Array;
}

interface BlockRow {
  /** Null of a row of the log. */
  readonly bucket: number | null;
  readonly body: Buffer;
}

/** What is stored of a kind in segments, what is still in the log included. */
export async function readBlocks(
  sql: SeriesSql,
  kind: SeriesKind,
  segments: readonly Segment[],
): Promise<StoredBlock[]> {
  if (segments.length === 0) return [];
  // Levels and bounds are words and numbers of ours; said in the text, they choose the partitions.
  const parts = segments.map(
    ({ level, from, to }) =>
      `select bucket, body from tracer.block_${level}
       where kind = $1 and bucket >= ${from} and bucket < ${to}`,
  );
  const rows = await sql.query<BlockRow>(
    `${parts.join(' union all ')} union all select null, body from tracer.cell_log`,
    [seriesKinds.indexOf(kind)],
    // Each text is of its minutes alone.
    { isPlannedAnew: true },
  );
  return rows.flatMap(({ bucket, body }) =>
    bucket === null ? loggedOf(body, kind, segments) : { bucket, block: body },
  );
}

function loggedOf(body: Buffer, kind: SeriesKind, segments: readonly Segment[]): StoredBlock[] {
  const blocks: StoredBlock[] = [];
  for (const logged of readCellLog(body)) {
    const { minute, block } = logged;
    const isAsked = segments.some(({ from, to }) => minute >= from && minute < to);
    if (isAsked && logged.kind === kind) blocks.push({ bucket: minute, block });
  }
  return blocks;
}

/** A row of the log of cells. */
export interface LogRow {
  readonly id: number;
  readonly body: Buffer;
}

/** The oldest rows of the log. */
export function readLog(sql: SeriesSql, limit: number): Promise<LogRow[]> {
  return sql.query<LogRow>('select id, body from tracer.cell_log order by id limit $1', [limit]);
}

/** Where a block lies. */
export interface BlockPlace {
  readonly level: Level;
  readonly kind: SeriesKind;
  readonly bucket: number;
}

/** A part of a block. */
export interface BlockPart extends BlockPlace {
  readonly part: number;
  readonly body: Buffer;
}

/** A part that replaces others. */
export interface NewPart extends BlockPlace {
  readonly body: Uint8Array;
}

const levels: readonly Level[] = ['minute', 'hour', 'day'];

/** The parts of blocks that are no larger than is said of each. */
export async function readParts(
  sql: SeriesSql,
  places: readonly (BlockPlace & { readonly bytesMax: number })[],
): Promise<BlockPart[]> {
  const texts: string[] = [];
  const parameters: unknown[] = [];
  for (const level of levels) {
    const here = places.filter((place) => place.level === level);
    if (here.length === 0) continue;
    const at = parameters.length;
    parameters.push(
      here.map(({ kind }) => seriesKinds.indexOf(kind)),
      here.map(({ bucket }) => bucket),
      here.map(({ bytesMax }) => bytesMax),
    );
    texts.push(
      `select '${level}' as level, b.kind, b.bucket, b.part, b.body
       from unnest($${at + 1}::smallint[], $${at + 2}::integer[], $${at + 3}::integer[])
         as p (kind, bucket, bytes)
       join tracer.block_${level} b on b.kind = p.kind and b.bucket = p.bucket
       where octet_length(b.body) <= p.bytes`,
    );
  }
  if (texts.length === 0) return [];
  const rows = await sql.query<Omit<BlockPart, 'kind'> & { readonly kind: number }>(
    texts.join(' union all '),
    parameters,
  );
  return rows.flatMap(({ kind: number, ...part }) => {
    const kind = seriesKinds[number];
    return kind === undefined ? [] : { ...part, kind };
  });
}

/** Rows of the log and parts of blocks, and what they become. */
export interface Fold {
  readonly logIds: readonly number[];
  readonly former: readonly BlockPart[];
  readonly parts: readonly NewPart[];
}

/**
 * Replaces them in one statement; false, and nothing is done, where some of them are not there any more:
 * a replica was first.
 */
export async function storeFold(sql: SeriesSql, { logIds, former, parts }: Fold): Promise<boolean> {
  const parameters: unknown[] = [logIds];
  const ctes = ['taken as (delete from tracer.cell_log where id = any($1::bigint[]) returning 1)'];
  const counts = ['(select count(*) from taken)'];
  const place = (values: readonly unknown[], type: string) => {
    parameters.push(values);
    return `$${parameters.length}::${type}`;
  };
  for (const level of levels) {
    const gone = former.filter((part) => part.level === level);
    if (gone.length > 0) {
      ctes.push(`gone_${level} as (
        delete from tracer.block_${level} b
        using unnest(${place(numbersOf(gone), 'smallint[]')}, ${place(bucketsOf(gone), 'integer[]')},
          ${place(
            gone.map(({ part }) => part),
            'bigint[]',
          )}) as g (kind, bucket, part)
        where b.kind = g.kind and b.bucket = g.bucket and b.part = g.part returning 1)`);
      counts.push(`(select count(*) from gone_${level})`);
    }
    const made = parts.filter((part) => part.level === level);
    if (made.length > 0) {
      ctes.push(`made_${level} as (
        insert into tracer.block_${level} (kind, bucket, body)
        select * from unnest(${place(numbersOf(made), 'smallint[]')},
          ${place(bucketsOf(made), 'integer[]')}, ${place(
            made.map(({ body }) => Buffer.from(body)),
            'bytea[]',
          )}))`);
    }
  }
  parameters.push(logIds.length + former.length);
  const text = `with ${ctes.join(', ')}
    select 1 / (case when ${counts.join(' + ')} = $${parameters.length}::integer then 1 else 0 end) as checked`;
  try {
    await sql.query(text, parameters);
    return true;
  } catch (error) {
    if (isDivisionByZero(error)) return false;
    throw error;
  }
}

function numbersOf(places: readonly BlockPlace[]): number[] {
  return places.map(({ kind }) => seriesKinds.indexOf(kind));
}

function bucketsOf(places: readonly BlockPlace[]): number[] {
  return places.map(({ bucket }) => bucket);
}

/** How a statement says that rows were not as they were known: SQLSTATE 22012. */
export function isDivisionByZero(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '22012';
}
