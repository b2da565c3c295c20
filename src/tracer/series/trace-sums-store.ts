import { usPerMinute } from './cells.ts';
import { binsPerLog } from './histogram.ts';
import { storedLabel } from './series-id.ts';
import type { SeriesSql } from './tables.ts';
import type { MinuteSpan } from './time-range.ts';

/** Which traces: all, or those of an agent, of a name, or of both. */
export interface TraceScope {
  readonly agent: string | undefined;
  readonly name: string | undefined;
}

/** What of a time is looked at. */
export interface TraceTimes {
  /** Microseconds since the epoch; the first counts, the last does not. */
  readonly fromUs: number;
  readonly toUs: number;
  /** Only what started so long after the beginning of its minute. */
  readonly offsetUs?: number | undefined;
  /** Only these minutes since the epoch. */
  readonly minutes?: readonly number[] | undefined;
}

/** Traces of one minute whose durations lie in one bin. */
export interface BinSums {
  readonly bucket: number;
  readonly bin: number;
  readonly count: number;
  readonly errors: number;
  /** Microseconds. */
  readonly sum: number;
}

/** Adds complete traces up one by one. */
export function readBinSums(
  sql: SeriesSql,
  { agent, name }: TraceScope,
  { fromUs, toUs, offsetUs = 0, minutes }: TraceTimes,
): Promise<BinSums[]> {
  const parameters: unknown[] = [];
  const conditions = [
    // Bounds in numbers, for the planner estimates by them.
    `t.start_us >= ${fromUs} and t.start_us < ${toUs}`,
    ...(offsetUs === 0 ? [] : [`t.start_us % ${usPerMinute} >= ${offsetUs}`]),
  ];
  const add = (value: unknown, condition: (place: string) => string) => {
    parameters.push(value);
    conditions.push(condition(`$${parameters.length}`));
  };
  if (minutes !== undefined) add(minutes, (place) => `${bucketOf} = any(${place}::integer[])`);
  if (agent !== undefined) add(storedLabel(agent), (place) => isLabel('agent', agent, place));
  if (name !== undefined) add(storedLabel(name), (place) => isLabel('name', name, place));
  return sql.query<BinSums>(
    `select bucket, bin, count(*) as count, count(*) filter (where is_error) as errors,
       sum(lasted)::float8 as sum
     from (
       select ${bucketOf} as bucket, t.status > 0 as is_error, ${lasted} as lasted,
         case when ${lasted} < 1 then 0
           else 1 + ceil(ln(${lasted}::float8) * ${binsPerLog}) end::integer as bin
       from tracer.trace t where ${conditions.join(' and ')}) as found
     group by 1, 2 order by 1, 2`,
    parameters,
  );
}

/** The minutes of a span, in microseconds. */
export function microsecondsOf({ from, to }: MinuteSpan) {
  return { fromUs: from * usPerMinute, toUs: to * usPerMinute };
}

const bucketOf = `(t.start_us / ${usPerMinute})::integer`;
const lasted = '(t.end_us - t.start_us)';

/** Rows have the whole name where a label has been cut. */
function isLabel(column: string, label: string, place: string): string {
  const isCut = storedLabel(label).length < label.length;
  return isCut ? `starts_with(t.${column}, ${place})` : `t.${column} = ${place}`;
}
