import type { Database } from '../../kit/database/database.ts';
import { openTypes } from '../intake/trace-store.ts';
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

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** What is listed: of traces that match. */
export interface Listed extends Page {
  readonly filter: TraceFilter;
  /** The newest of those that match and have no rows yet, a JSON array of `OpenRow`s. */
  readonly openRows: string;
}

/** A trace as a listing reads it. */
export interface ListedRow {
  readonly trace_id: string;
  readonly start_us: number;
  readonly end_us: number;
  readonly name: string;
  readonly service: string;
  readonly agent: string;
  readonly agents: string[];
  readonly status: number;
  readonly span_count: number;
  readonly error_count: number;
  readonly tags: Buffer | null;
  readonly error: string | null;
  readonly bottlenecks: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_usd: number | null;
  readonly is_complete: boolean;
}

const shared = `trace_id, start_us, end_us, name, service, agent, agents, status, span_count,
  error_count, tags`;

const unknownYet = 'null, null, null, null, false';

/** One page of the traces that match, the newest first. */
export function listTraces(
  database: Database,
  { filter, openRows, limit, offset }: Listed,
): Promise<ListedRow[]> {
  const { where, parameters } = conditions(filter);
  const given = givenRows(openRows, parameters);
  const reach = limit + offset;
  return database.query<ListedRow>(
    `with ${again}
     select * from (
      (select ${shared}, error, bottlenecks, input_tokens, output_tokens, cost_usd,
         true as is_complete
       from tracer.trace t where ${where} and ${isNotAgain} order by start_us desc limit ${reach})
      union all
      (select ${shared}, error, ${unknownYet}
       from tracer.open_trace t where ${where} and ${isFirstOpen}
       order by start_us desc limit ${reach})
      union all
      (select ${shared}, error, ${unknownYet} from again t where ${where})
      ${given && `union all (select ${shared}, error, ${unknownYet} from ${given})`}
    ) as found order by start_us desc, trace_id limit ${limit} offset ${offset}`,
    parameters,
  );
}

/** How many traces failed, and how many of these not by a deadline. */
export interface Failures {
  readonly failed: number;
  readonly errors: number;
}

const failures = `count(*) filter (where status > 0) as failed,
  count(*) filter (where status = 1) as errors`;

/** How many of the newest traces match, at most one more than `max`, and how many of them failed. */
export async function countTraces(
  database: Database,
  filter: TraceFilter,
  max: number,
): Promise<Failures & { readonly total: number }> {
  const { where, parameters } = conditions(filter);
  const [row] = await database.query<Failures & { total: number }>(
    `with ${again}
     select count(*) as total, ${failures}
     from (
       (select status from tracer.trace t where ${where} and ${isNotAgain}
        order by start_us desc limit ${max + 1})
       union all
       (select status from tracer.open_trace t where ${where} and ${isFirstOpen})
       union all
       (select status from again t where ${where})
     ) as found`,
    parameters,
  );
  return row ?? { total: 0, failed: 0, errors: 0 };
}

/** How many traces are kept, whatever they are. */
export async function countEveryTrace(
  database: Database,
  { oldestDay, receivedAfterMs }: ShownFrom,
): Promise<number> {
  const { where, parameters } = conditions({ oldestDay, receivedAfterMs });
  const [row] = await database.query<{ total: number }>(
    `select
       (select coalesce(sum(traces), 0)::bigint from tracer.day_total where day > $1)
       + (select count(*) from tracer.trace where day = $1 and received_at >= $2)
       + (select count(*) from tracer.open_trace t where ${where} and ${isFirstOpen}) as total`,
    parameters,
  );
  return row?.total ?? 0;
}

/** How many of the traces that are kept have failed; read from the index of those. */
export async function countEveryFailed(
  database: Database,
  { oldestDay, receivedAfterMs }: ShownFrom,
): Promise<Failures> {
  const { where, parameters } = conditions({ oldestDay, receivedAfterMs });
  const [row] = await database.query<Failures>(
    `with ${again}
     select ${failures} from (
       select status from tracer.trace t where ${where} and status > 0 and ${isNotAgain}
       union all
       select status from tracer.open_trace t where ${where} and status > 0 and ${isFirstOpen}
       union all
       select status from again t where ${where} and status > 0
     ) as found`,
    parameters,
  );
  return row ?? { failed: 0, errors: 0 };
}

const keptBy = new Set(['receivedAfterMs', 'oldestDay']);

/** Whether a filter lets every trace pass that is kept. */
export function isEveryTrace(filter: TraceFilter): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || keptBy.has(name));
}

/** Ids of the traces that match, the newest first. */
export async function findTraceIds(
  database: Database,
  { filter, openRows, limit }: Omit<Listed, 'offset'>,
): Promise<string[]> {
  const { where, parameters } = conditions(filter);
  const given = givenRows(openRows, parameters);
  const rows = await database.query<{ trace_id: string }>(
    `with ${again}
     select trace_id from (
       select trace_id, start_us from tracer.trace t where ${where} and ${isNotAgain}
       union all
       select trace_id, start_us from tracer.open_trace t
       where ${where} and ${isFirstOpen}
       union all
       select trace_id, start_us from again t where ${where}
       ${given && `union all select trace_id, start_us from ${given}`}
     ) as found order by start_us desc, trace_id limit ${limit}`,
    parameters,
  );
  return rows.map(({ trace_id: id }) => id.replaceAll('-', ''));
}

/** Rows that are given beside the stored ones; empty where there are none. */
function givenRows(openRows: string, parameters: unknown[]): string {
  if (openRows === '[]') return '';
  parameters.push(openRows);
  return `json_to_recordset($${parameters.length}::json) as r(${openTypes})`;
}

/**
 * An open trace that has no row of a complete one, or none that is shown. Said with a limit, each is looked
 * up by its id: an antijoin reads all complete ones when the planner takes the few open ones for many.
 */
const isFirstOpen = `(
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

function conditions(filter: TraceFilter) {
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
