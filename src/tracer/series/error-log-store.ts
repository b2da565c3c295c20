import { storedLabel, storedText } from './series-id.ts';
import type { StatementParts } from './series-store.ts';
import type { SeriesSql } from './tables.ts';

/** A failed trace in the log. */
export interface ErrorEntry {
  /** When the trace started, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly code: string;
  readonly message: string;
  readonly agent: string;
  /** Of the trace. */
  readonly name: string;
  readonly service: string;
}

const messageCharactersMax = 4_096;
const keptMs = 30 * 86_400_000;
const aheadMs = 86_400_000;

/**
 * What logs failed traces as parts of a statement, whose parameters are numbered from
 * `firstParameter`. Entries older than thirty days are left out; a trace that is logged already at
 * this time is logged anew.
 */
export function logErrors(
  entries: readonly ErrorEntry[],
  firstParameter: number,
  nowMs = Date.now(),
): StatementParts {
  const logged = entries.filter(({ atMs }) => atMs >= nowMs - keptMs && atMs <= nowMs + aheadMs);
  // One statement cannot change a row twice.
  const unique = [
    ...new Map(logged.map((entry) => [`${entry.traceId}${entry.atMs}`, entry])).values(),
  ];
  if (unique.length === 0) return { ctes: [], parameters: [] };
  const at = (offset: number) => `$${firstParameter + offset}`;
  const cte = `logged_errors as (
    insert into tracer.error_log (at, trace_id, span_id, code, message, agent, name, service)
    select * from unnest(${at(0)}::bigint[], ${at(1)}::uuid[], ${at(2)}::text[], ${at(3)}::text[],
      ${at(4)}::text[], ${at(5)}::text[], ${at(6)}::text[], ${at(7)}::text[])
    on conflict (trace_id, at) do update set span_id = excluded.span_id, code = excluded.code,
      message = excluded.message, agent = excluded.agent, name = excluded.name,
      service = excluded.service)`;
  const parameters = [
    unique.map(({ atMs }) => Math.floor(atMs)),
    unique.map(({ traceId }) => traceId),
    unique.map(({ spanId }) => spanId),
    unique.map(({ code }) => storedLabel(code)),
    unique.map(({ message }) => storedText(message, messageCharactersMax)),
    unique.map(({ agent }) => storedLabel(agent)),
    unique.map(({ name }) => storedLabel(name)),
    unique.map(({ service }) => storedLabel(service)),
  ];
  return { ctes: [cte], parameters };
}

/**
 * What takes entries of traces that changed out of the log, as parts of a statement that may log the
 * same traces at another time.
 */
export function forgetErrors(
  places: readonly Pick<ErrorEntry, 'traceId' | 'atMs'>[],
  firstParameter: number,
): StatementParts {
  if (places.length === 0) return { ctes: [], parameters: [] };
  const cte = `forgotten_errors as (
    delete from tracer.error_log e
    using unnest($${firstParameter}::uuid[], $${firstParameter + 1}::bigint[]) as f (trace_id, at)
    where e.trace_id = f.trace_id and e.at = f.at)`;
  return {
    ctes: [cte],
    parameters: [places.map(({ traceId }) => traceId), places.map(({ atMs }) => Math.floor(atMs))],
  };
}

export interface ErrorQuery {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly code: string | undefined;
  readonly agent: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface ErrorRow {
  readonly at: number;
  readonly trace_id: string;
  readonly span_id: string;
  readonly code: string;
  readonly message: string;
  readonly agent: string;
  readonly name: string;
  readonly service: string;
}

/** One page of the log, the latest first, and how many there are. */
export async function listErrors(
  sql: SeriesSql,
  { fromMs, toMs, code, agent, limit, offset }: ErrorQuery,
): Promise<{ readonly errors: ErrorEntry[]; readonly total: number }> {
  const filter = [fromMs, toMs, ...[code, agent].map((text) => text && storedLabel(text))];
  const matching = `from tracer.error_log
    where at >= $1 and at < $2 and ($3::text is null or code = $3) and ($4::text is null or agent = $4)`;
  const [rows, [counted]] = await Promise.all([
    sql.query<ErrorRow>(`select * ${matching} order by at desc, trace_id limit $5 offset $6`, [
      ...filter,
      limit,
      offset,
    ]),
    sql.query<{ total: number }>(`select count(*) as total ${matching}`, filter),
  ]);
  return { errors: rows.map(toEntry), total: counted?.total ?? 0 };
}

function toEntry({ at, trace_id, span_id, ...rest }: ErrorRow): ErrorEntry {
  return { atMs: at, traceId: trace_id.replaceAll('-', ''), spanId: span_id, ...rest };
}
