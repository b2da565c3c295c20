import { usPerMinute } from './cells.ts';
import { binsPerLog } from './histogram.ts';
import { storedLabel } from './series-id.ts';
import { cellsOf, type SeriesSql } from './stats-store.ts';
import { segmentsOf, type MinuteSpan, type Segment } from './time-range.ts';

/** Which traces: all, or those of an agent, of a name, or of both. */
export interface TraceScope {
  readonly agent: string | undefined;
  readonly name: string | undefined;
}

/** Traces that started from a moment on. */
export interface TraceWindow extends TraceScope {
  /** Microseconds since the epoch; counts too. */
  readonly fromUs: number;
  /** The minute since the epoch before which it ends. */
  readonly to: number;
  readonly nowMs: number;
}

/** Traces of whole minutes, in steps of so many. */
export interface TraceStepQuery extends TraceScope, MinuteSpan {
  readonly stepMinutes: number;
  /** Only what started in the last so many seconds of each minute. */
  readonly tailSeconds?: number | undefined;
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
  readonly step: number;
  readonly count: number;
  readonly errors: number;
  readonly sum: number;
  readonly bins: number[] | null;
  readonly bin_counts: number[] | null;
}

/** In a minute with more traces those of a part of it are not counted, but taken for its share. */
const countedTracesMax = 10_000;

/**
 * Adds the traces of a window up: whole minutes by their cells, what a minute that is not wholly inside
 * has inside trace by trace, or as its share of the minute where that holds more than 10,000 traces.
 */
export async function readTraceSums(sql: SeriesSql, window: TraceWindow): Promise<TraceSums> {
  const [step] = await sumSteps(sql, windowCells(window), '0');
  return step ?? { count: 0, errors: 0, sum: 0, bins: [], binCounts: [] };
}

/** The same of whole minutes or of each one's last seconds; steps without traces are left out. */
export async function readTraceSteps(sql: SeriesSql, query: TraceStepQuery): Promise<TraceStep[]> {
  const { from, to, stepMinutes } = query;
  if (to <= from) return [];
  const step = `greatest(0, (bucket - ${from}) / ${stepMinutes})`;
  const steps = await sumSteps(sql, stepCells(query), step);
  return steps.map(({ step: place, ...sums }) => ({ ...sums, minute: from + place * stepMinutes }));
}

/** Finds cells, each with the weight that it counts with. */
interface WeightedCells {
  /** What the text reads, of parts of minutes. */
  readonly ctes: readonly string[];
  readonly text: string | undefined;
  readonly parameters: readonly unknown[];
}

async function sumSteps(
  sql: SeriesSql,
  { ctes, text, parameters }: WeightedCells,
  step: string,
): Promise<(TraceSums & { readonly step: number })[]> {
  if (text === undefined) return [];
  const rows = await sql.query<StepRow>(
    `with ${ctes.map((cte) => `${cte}, `).join('')}
     cells as materialized (select ${step} as step, c.* from (${text}) as c),
     filled as (
       select step, u.bin, sum(u.n * weight) as n
       from cells, unnest(bins, bin_counts) as u (bin, n) group by 1, 2 having sum(u.n) > 0),
     histograms as (
       select step, array_agg(bin order by bin) as bins, array_agg(n order by bin) as bin_counts
       from filled group by 1),
     totals as (
       select step, round(sum(count * weight))::bigint as count,
         round(sum(errors * weight))::bigint as errors, sum(sum * weight) as sum
       from cells group by 1 having sum(count) > 0)
     select step, count, errors, sum, bins, bin_counts
     from totals left join histograms using (step) order by step`,
    parameters,
  );
  return rows.map(({ bins, bin_counts: binCounts, ...sums }) => ({
    ...sums,
    bins: bins ?? [],
    binCounts: binCounts ?? [],
  }));
}

function windowCells(window: TraceWindow): WeightedCells {
  const { agent, name, fromUs, to, nowMs } = window;
  const started = `t.start_us >= ${fromUs} and t.start_us < ${to * usPerMinute}`;
  if (agent !== undefined && name !== undefined) return eachTrace({ agent, name }, started);
  const from = Math.ceil(fromUs / usPerMinute);
  // As if it were over, so that it ends with a minute and with no hour that is ahead of the clock.
  const segments = segmentsOf({ from, to }, Math.max(nowMs, (to * usPerMinute) / 1_000));
  const first = from - 1;
  if (fromUs === from * usPerMinute || first >= to) return wholeCells(window, segments);
  const offsetUs = fromUs - first * usPerMinute;
  // Of a minute that is not over yet nothing is there of what is to come.
  const overUs = Math.min(usPerMinute, Math.max(nowMs * 1_000 - first * usPerMinute, offsetUs));
  const share = (overUs - offsetUs) / overUs;
  const tails = tailCells(window, { from: first, to: from, offsetUs, share });
  const { text } = wholeCells(window, segments);
  return {
    ...tails,
    text: [tails.text, ...(text === undefined ? [] : [text])].join(' union all '),
  };
}

function stepCells(query: TraceStepQuery): WeightedCells {
  const { agent, name, from, to, tailSeconds, nowMs } = query;
  const offsetUs = tailSeconds === undefined ? 0 : usPerMinute - tailSeconds * 1_000_000;
  if (agent !== undefined && name !== undefined) {
    const started = `t.start_us >= ${from * usPerMinute} and t.start_us < ${to * usPerMinute}`;
    return eachTrace({ agent, name }, `${started} and t.start_us % ${usPerMinute} >= ${offsetUs}`);
  }
  if (offsetUs === 0) return wholeCells(query, segmentsOf({ from, to }, nowMs, 'fine'));
  const share = (usPerMinute - offsetUs) / usPerMinute;
  return tailCells(query, { from, to, offsetUs, share });
}

function wholeCells(scope: TraceScope, segments: readonly Segment[]): WeightedCells {
  const { text, parameters } = cellsOf({ ...seriesOf(scope), segments }, true);
  if (text === undefined) return { ctes: [], text, parameters };
  const columns = 'bucket, count, errors, sum, bins, bin_counts, 1::float8 as weight';
  return { ctes: [], text: `select ${columns} from (${text}) as whole`, parameters };
}

/** What lies behind an offset in each minute of a span. */
interface Tails extends MinuteSpan {
  readonly offsetUs: number;
  /** Of what the minute holds. */
  readonly share: number;
}

function tailCells(scope: TraceScope, { from, to, offsetUs, share }: Tails): WeightedCells {
  const segments: Segment[] = [{ level: 'minute', from, to }];
  const { text, parameters } = cellsOf({ ...seriesOf(scope), segments }, true);
  const ctes = [
    `cut_cell as materialized (${text})`,
    `cut_minute as materialized (
       select bucket, sum(count) > ${countedTracesMax} as is_crowded
       from cut_cell group by 1 having sum(count) > 0)`,
  ];
  const { agent, name } = scope;
  const ofScope = [
    ...(agent === undefined ? [] : [`and ${isLabel('agent', agent, 2)}`]),
    ...(name === undefined ? [] : [`and ${isLabel('name', name, 2)}`]),
  ];
  const columns = 'count, errors, sum, bins, bin_counts';
  const crowded = `
    select bucket, ${columns}, ${share}::float8 as weight
    from cut_cell join cut_minute using (bucket) where is_crowded`;
  // Bounds in numbers, for the planner estimates by them; of crowded minutes alone nothing is read.
  const counted = `
    select ${bucketOf} as bucket, ${traceColumns}, 1::float8 as weight
    from tracer.trace t
    where (select not bool_and(is_crowded) from cut_minute)
      and t.start_us >= ${from * usPerMinute + offsetUs} and t.start_us < ${to * usPerMinute}
      and t.start_us % ${usPerMinute} >= ${offsetUs}
      and ${bucketOf} = any(array(select bucket from cut_minute where not is_crowded))
      ${ofScope.join(' ')}`;
  return { ctes, text: `${crowded} union all ${counted}`, parameters };
}

/** Of an agent and a name together there are no cells. */
function eachTrace(
  { agent, name }: { readonly agent: string; readonly name: string },
  started: string,
): WeightedCells {
  const text = `
    select ${bucketOf} as bucket, ${traceColumns}, 1::float8 as weight
    from tracer.trace t
    where ${isLabel('agent', agent, 1)} and ${isLabel('name', name, 2)} and ${started}`;
  return { ctes: [], text, parameters: [agent, name].map(storedLabel) };
}

function seriesOf({ agent, name }: TraceScope) {
  if (agent !== undefined) return { kind: 'traceAgent', labels: [agent] } as const;
  if (name !== undefined) return { kind: 'traceName', labels: [name] } as const;
  return { kind: 'traceStatus' } as const;
}

const bucketOf = `(t.start_us / ${usPerMinute})::integer`;
const lasted = '(t.end_us - t.start_us)';

/** A trace as a cell of its own. */
const traceColumns = `
  1::bigint as count, (t.status > 0)::integer::bigint as errors, ${lasted}::float8 as sum,
  array[case when ${lasted} < 1 then 0
    else 1 + ceil(ln(${lasted}::float8) * ${binsPerLog}) end]::smallint[] as bins,
  array[1] as bin_counts`;

/** Rows have the whole name where a label has been cut. */
function isLabel(column: string, label: string, place: number): string {
  const isCut = storedLabel(label).length < label.length;
  return isCut ? `starts_with(t.${column}, $${place})` : `t.${column} = $${place}`;
}
