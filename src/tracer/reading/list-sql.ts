import { openTypes } from '../intake/trace-rows.ts';
import { agentTerm, serviceTerm } from '../trace/terms.ts';

/** From when on traces are shown. */
export interface ShownFrom {
  /** Traces that came before it are past their retention. */
  readonly receivedAfterMs: number;
  /** The day that they came on, which says where their rows are not. */
  readonly oldestDay: number;
}

/** What a listing is narrowed by; absent means any. */
export interface TraceFilter extends ShownFrom {
  readonly agentId?: string | undefined;
  /** 0 success, 1 error, 2 timeout. */
  readonly status?: number | undefined;
  readonly fromUs?: number | undefined;
  readonly toUs?: number | undefined;
  /** It ended then or later. */
  readonly endFromUs?: number | undefined;
  readonly minDurationUs?: number | undefined;
  readonly maxDurationUs?: number | undefined;
  readonly name?: string | undefined;
  readonly service?: string | undefined;
  /** Terms that the trace must have. */
  readonly terms?: readonly number[] | undefined;
}

/**
 * Holds of the rows of shown traces; `$1` is the oldest day, `$2` the time. Said so, the planner does not
 * take nearly all rows for few.
 */
export const isShown = '(day > $1 or (day = $1 and received_at >= $2))';

/**
 * What a statement says of traces that have open rows. Where there are none it says nothing of them: to plan
 * for them takes the embedded database longer than to find the traces.
 */
export interface OpenParts {
  /** `with again as …`, to be followed by other parts. */
  readonly again: readonly string[];
  /** Holds of complete rows to which nothing came since. */
  readonly andNotAgain: string;
  /** The words, where there are open rows. */
  readonly ifAny: (sql: string) => string;
}

export function openParts(hasOpenRows: boolean): OpenParts {
  if (!hasOpenRows) return { again: [], andNotAgain: '', ifAny: () => '' };
  return { again: [again], andNotAgain: `and ${isNotAgain}`, ifAny: (sql) => sql };
}

/** `with` and its parts; nothing where there are none. */
export function withParts(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `with ${parts.join(', ')}`;
}

interface Conditions {
  readonly where: string;
  /** What its `$n` stand for; more may be added behind them. */
  readonly parameters: unknown[];
}

/** Rows that are given beside the stored ones; empty where there are none. */
export function givenRows(openRows: string, parameters: unknown[]): string {
  if (openRows === '[]') return '';
  parameters.push(openRows);
  return `json_to_recordset($${parameters.length}::json) as r(${openTypes})`;
}

/**
 * An open trace that has no row of a complete one, or none that is shown. Said with a limit, each is looked
 * up by its id: an antijoin reads all complete ones when the planner takes the few open ones for many.
 */
export const isFirstOpen = `(
  select true from tracer.trace c where c.trace_id = t.trace_id and ${isShown} limit 1) is null`;

/** The complete row speaks for the trace: no root came, and nothing that begins earlier. */
const isNamedBefore = '(o.is_partial and (not c.is_partial or c.start_us <= o.start_us))';

const named = (column: string): string =>
  `case when ${isNamedBefore} then c.${column} else o.${column} end as ${column}`;

const joined = (column: string): string =>
  `c.${column} || array(select a from unnest(o.${column}) a where a <> all (c.${column})) as ${column}`;

/**
 * Complete traces to which spans came again: what was counted with what came, as the trace reads until
 * it is counted anew. Each open row is looked up by its id, of which there are few.
 */
const again = `again as materialized (
  select c.trace_id, c.day, c.received_at,
    least(c.start_us, o.start_us) as start_us, greatest(c.end_us, o.end_us) as end_us,
    ${named('name')}, ${named('service')}, ${named('agent')},
    case when ${isNamedBefore} then c.tags else coalesce(o.tags, c.tags) end as tags,
    ${joined('agents')}, ${joined('terms')},
    -- What came may be all that is in memory; a failure that was counted has happened.
    case when o.status > 0 then o.status else c.status end as status,
    coalesce(o.error, c.error) as error,
    c.span_count + o.span_count as span_count, c.error_count + o.error_count as error_count
  from tracer.open_trace o cross join lateral (
    select * from tracer.trace where trace_id = o.trace_id and ${isShown} order by day desc limit 1
  ) c)`;

/** A complete trace to which nothing came since. */
const isNotAgain = '(trace_id, day) not in (select trace_id, day from again)';

/** What rows must be like to match a filter, as SQL. */
export function conditions(filter: TraceFilter): Conditions {
  const parameters: unknown[] = [];
  const parts: string[] = [];
  const add = (value: unknown, part: (place: string) => string): void => {
    if (value === undefined) return;
    parameters.push(value);
    parts.push(part(`$${parameters.length}`));
  };
  parameters.push(filter.oldestDay, filter.receivedAfterMs);
  parts.push(isShown);
  const terms = termsOf(filter);
  add(terms.length > 0 ? terms : undefined, (at) => `terms @> ${at}::integer[]`);
  add(filter.agentId, (at) => `agents @> array[${at}::text]`);
  add(filter.status, (at) => `status = ${at} and status ${filter.status === 0 ? '= 0' : '> 0'}`);
  add(filter.fromUs, (at) => `start_us >= ${at}`);
  add(filter.toUs, (at) => `start_us <= ${at}`);
  add(filter.endFromUs, (at) => `end_us >= ${at}`);
  add(filter.minDurationUs, (at) => `end_us - start_us >= ${at}`);
  add(filter.maxDurationUs, (at) => `end_us - start_us <= ${at}`);
  add(filter.name, (at) => `name = ${at}`);
  add(filter.service, (at) => `service = ${at}`);
  return { where: parts.join(' and '), parameters };
}

/** What an index can find of a filter. */
function termsOf({ terms = [], agentId, service }: TraceFilter): number[] {
  return [
    ...terms,
    ...(agentId === undefined ? [] : [agentTerm(agentId)]),
    ...(service === undefined ? [] : [serviceTerm(service)]),
  ];
}
