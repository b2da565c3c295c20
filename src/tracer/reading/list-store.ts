import type { Database } from '../../kit/database/database.ts';
import { failures, type Failures } from './count-store.ts';
import {
  conditions,
  givenRows,
  isFirstOpen,
  openParts,
  withParts,
  type TraceFilter,
} from './list-sql.ts';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** What is listed: of traces that match. */
export interface Listed extends Page {
  readonly filter: TraceFilter;
  /** The newest of those that match and have no rows yet, a JSON array of `OpenRow`s. */
  readonly openRows: string;
  /** Whether the database has rows of open traces. */
  readonly hasOpenRows: boolean;
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

const analysed = 'bottlenecks, input_tokens, output_tokens, cost_usd';

const unknownYet = 'null, null, null, null, false';

/** One page of the traces that match, the newest first. */
export function listTraces(
  database: Database,
  { filter, openRows, hasOpenRows, limit, offset }: Listed,
): Promise<ListedRow[]> {
  const { where, parameters } = conditions(filter);
  const given = givenRows(openRows, parameters);
  const open = openParts(hasOpenRows);
  const reach = limit + offset;
  return database.query<ListedRow>(
    `${withParts(open.again)}
     select * from (
      (select ${shared}, error, ${analysed}, true as is_complete
       from tracer.trace t where ${where} ${open.andNotAgain}
       order by start_us desc limit ${reach})
      ${open.ifAny(`union all
      (select ${shared}, error, ${unknownYet}
       from tracer.open_trace t where ${where} and ${isFirstOpen}
       order by start_us desc limit ${reach})
      union all
      (select ${shared}, error, ${unknownYet} from again t where ${where})`)}
      ${given && `union all (select ${shared}, error, ${unknownYet} from ${given})`}
    ) as found order by start_us desc, trace_id limit ${limit} offset ${offset}`,
    parameters,
  );
}

/** A page of what matches, and how many of the newest there are. */
export interface Matches extends Failures {
  /** At most one more than were to be counted. */
  readonly total: number;
  /** When the oldest complete one of these began; older rows of the page may have others between them. */
  readonly oldest_us: number | null;
  readonly rows: readonly ListedRow[];
}

export interface MatchesQuery extends Listed {
  /** The page has no others; they count all the same. */
  readonly pageStatus: number | undefined;
  /** So many of the newest are counted, and the page is one of them. */
  readonly countMax: number;
}

type MatchRow = Omit<Matches, 'rows'> & (ListedRow | { readonly trace_id: null });

/** A page of the traces that match and their number: to look for both at once takes half as long. */
export async function listMatches(
  database: Database,
  { filter, openRows, hasOpenRows, limit, offset, pageStatus, countMax }: MatchesQuery,
): Promise<Matches> {
  const { where, parameters } = conditions(filter);
  const given = givenRows(openRows, parameters);
  const open = openParts(hasOpenRows);
  const reach = limit + offset;
  const ofPage = pageStatus === undefined ? 'true' : `status = $${parameters.push(pageStatus)}`;
  const found = await database.query<MatchRow>(
    `${withParts([
      ...open.again,
      `matched as materialized (
       select trace_id, day, start_us, status from tracer.trace t where ${where} ${open.andNotAgain}
       order by start_us desc limit ${countMax + 1})`,
      `counted as (
       select count(*) as total, ${failures}, (select min(start_us) from matched) as oldest_us from (
         select status from matched
         ${open.ifAny(`union all
         (select status from tracer.open_trace t where ${where} and ${isFirstOpen})
         union all
         (select status from again t where ${where})`)}
       ) as found)`,
      `page as (select * from (
       (select ${shared}, error, ${analysed}, true as is_complete
        from (select trace_id as id, day as on_day from matched where ${ofPage}
          order by start_us desc limit ${reach}) m
        cross join lateral (
          select * from tracer.trace where trace_id = m.id and day = m.on_day) t)
       ${open.ifAny(`union all
       (select ${shared}, error, ${unknownYet}
        from tracer.open_trace t where ${where} and ${ofPage} and ${isFirstOpen}
        order by start_us desc limit ${reach})
       union all
       (select ${shared}, error, ${unknownYet} from again t where ${where} and ${ofPage})`)}
       ${given && `union all (select ${shared}, error, ${unknownYet} from ${given} where ${ofPage})`}
     ) as found order by start_us desc, trace_id limit ${limit} offset ${offset})`,
    ])}
     select counted.*, page.* from counted left join page on true
     order by start_us desc, trace_id`,
    parameters,
  );
  const { total = 0, failed = 0, errors = 0, oldest_us = null } = found[0] ?? {};
  const rows = found.filter((row) => row.trace_id !== null);
  return { total, failed, errors, oldest_us, rows };
}

/** Ids of the traces that match, the newest first. */
export async function findTraceIds(
  database: Database,
  { filter, openRows, hasOpenRows, limit }: Omit<Listed, 'offset'>,
): Promise<string[]> {
  const { where, parameters } = conditions(filter);
  const given = givenRows(openRows, parameters);
  const open = openParts(hasOpenRows);
  const rows = await database.query<{ trace_id: string }>(
    `${withParts(open.again)}
     select trace_id from (
       select trace_id, start_us from tracer.trace t where ${where} ${open.andNotAgain}
       ${open.ifAny(`union all
       select trace_id, start_us from tracer.open_trace t
       where ${where} and ${isFirstOpen}
       union all
       select trace_id, start_us from again t where ${where}`)}
       ${given && `union all select trace_id, start_us from ${given}`}
     ) as found order by start_us desc, trace_id limit ${limit}`,
    parameters,
  );
  return rows.map(({ trace_id: id }) => id.replaceAll('-', ''));
}
