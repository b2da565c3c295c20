import type { Database } from '../../kit/database/database.ts';
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
  readonly minDurationUs?: number | undefined;
  readonly maxDurationUs?: number | undefined;
  readonly name?: string | undefined;
  readonly service?: string | undefined;
  readonly traceIds?: readonly string[] | undefined;
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

/** One page of the traces that match, the newest first. */
export function listTraces(
  database: Database,
  filter: TraceFilter,
  { limit, offset }: Page,
): Promise<ListedRow[]> {
  const { where, parameters } = conditions(filter);
  const reach = limit + offset;
  return database.query<ListedRow>(
    `select * from (
      (select ${shared}, error, bottlenecks, input_tokens, output_tokens, cost_usd,
         true as is_complete
       from tracer.trace t where ${where} order by start_us desc limit ${reach})
      union all
      (select ${shared}, error, null, null, null, null, false
       from tracer.open_trace t where ${where} and ${isNotComplete}
       order by start_us desc limit ${reach})
    ) as found order by start_us desc, trace_id limit ${limit} offset ${offset}`,
    parameters,
  );
}

/** How many of the newest traces match, at most one more than `max`, and how many of them failed. */
export async function countTraces(
  database: Database,
  filter: TraceFilter,
  max: number,
): Promise<{ readonly total: number; readonly failed: number }> {
  const { where, parameters } = conditions(filter);
  const [row] = await database.query<{ total: number; failed: number }>(
    `select count(*) as total, count(*) filter (where status > 0) as failed
     from (
       (select status from tracer.trace t where ${where} order by start_us desc limit ${max + 1})
       union all
       (select status from tracer.open_trace t where ${where} and ${isNotComplete})
     ) as found`,
    parameters,
  );
  return row ?? { total: 0, failed: 0 };
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
       + (select count(*) from tracer.open_trace t where ${where} and ${isNotComplete}) as total`,
    parameters,
  );
  return row?.total ?? 0;
}

/** How many of the traces that are kept have failed; read from the index of those. */
export async function countEveryFailed(
  database: Database,
  { oldestDay, receivedAfterMs }: ShownFrom,
): Promise<number> {
  const { where, parameters } = conditions({ oldestDay, receivedAfterMs });
  const [row] = await database.query<{ failed: number }>(
    `select
       (select count(*) from tracer.trace t where ${where} and status > 0)
       + (select count(*) from tracer.open_trace t where ${where} and status > 0 and ${isNotComplete})
       as failed`,
    parameters,
  );
  return row?.failed ?? 0;
}

const keptBy = new Set(['receivedAfterMs', 'oldestDay']);

/** Whether a filter lets every trace pass that is kept. */
export function isEveryTrace(filter: TraceFilter): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || keptBy.has(name));
}

/** Ids of the traces that match and of which some part lies between two times, the newest first. */
export async function findTraceIds(
  database: Database,
  { fromUs, toUs, ...filter }: TraceFilter & { readonly fromUs: number; readonly toUs: number },
  limit: number,
): Promise<string[]> {
  const { where, parameters } = conditions({ ...filter, toUs });
  const overlap = `end_us >= $${parameters.length + 1}`;
  const rows = await database.query<{ trace_id: string }>(
    `select trace_id from (
       select trace_id, start_us from tracer.trace t where ${where} and ${overlap}
       union all
       select trace_id, start_us from tracer.open_trace t
       where ${where} and ${overlap} and ${isNotComplete}
     ) as found order by start_us desc, trace_id limit ${limit}`,
    [...parameters, fromUs],
  );
  return rows.map(({ trace_id: id }) => id.replaceAll('-', ''));
}

/** A complete trace to which spans are added is listed as it was until it is complete again. */
const isNotComplete = 'not exists (select from tracer.trace c where c.trace_id = t.trace_id)';

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
  add(filter.minDurationUs, (at) => `end_us - start_us >= ${at}`);
  add(filter.maxDurationUs, (at) => `end_us - start_us <= ${at}`);
  add(filter.name, (at) => `name = ${at}`);
  add(filter.service, (at) => `service = ${at}`);
  add(filter.traceIds, (at) => `trace_id = any(${at}::uuid[])`);
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
