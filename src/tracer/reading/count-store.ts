import type { Database } from '../../kit/database/database.ts';
import {
  conditions,
  isFirstOpen,
  openParts,
  withParts,
  type ShownFrom,
  type TraceFilter,
} from './list-sql.ts';

/** How many traces failed, and how many of these not by a deadline. */
export interface Failures {
  readonly failed: number;
  readonly errors: number;
}

/** Of rows with a status. */
export const failures = `count(*) filter (where status > 0) as failed,
  count(*) filter (where status = 1) as errors`;

/** What is counted. */
export interface Counted<Filter extends ShownFrom = ShownFrom> {
  readonly filter: Filter;
  /** Whether the database has rows of open traces. */
  readonly hasOpenRows: boolean;
}

/** How many of the newest traces match, at most one more than `max`, and how many of them failed. */
export async function countTraces(
  database: Database,
  { filter, hasOpenRows }: Counted<TraceFilter>,
  max: number,
): Promise<Failures & { readonly total: number }> {
  const { where, parameters } = conditions(filter);
  const open = openParts(hasOpenRows);
  const [row] = await database.query<Failures & { total: number }>(
    `${withParts(open.again)}
     select count(*) as total, ${failures}
     from (
       (select status from tracer.trace t where ${where} ${open.andNotAgain}
        order by start_us desc limit ${max + 1})
       ${open.ifAny(`union all
       (select status from tracer.open_trace t where ${where} and ${isFirstOpen})
       union all
       (select status from again t where ${where})`)}
     ) as found`,
    parameters,
  );
  return row ?? { total: 0, failed: 0, errors: 0 };
}

/** How many traces are kept, whatever they are. */
export async function countEveryTrace(
  database: Database,
  { filter: { oldestDay, receivedAfterMs }, hasOpenRows }: Counted,
): Promise<number> {
  const { where, parameters } = conditions({ oldestDay, receivedAfterMs });
  const open = openParts(hasOpenRows);
  const [row] = await database.query<{ total: number }>(
    `select
       (select coalesce(sum(traces), 0)::bigint from tracer.day_total where day > $1)
       + (select count(*) from tracer.trace where day = $1 and received_at >= $2)
       ${open.ifAny(`+ (
         select count(*) from tracer.open_trace t where ${where} and ${isFirstOpen})`)} as total`,
    parameters,
  );
  return row?.total ?? 0;
}

/** How many of the traces that are kept have failed; read from the index of those. */
export async function countEveryFailed(
  database: Database,
  { filter: { oldestDay, receivedAfterMs }, hasOpenRows }: Counted,
): Promise<Failures> {
  const { where, parameters } = conditions({ oldestDay, receivedAfterMs });
  const open = openParts(hasOpenRows);
  const [row] = await database.query<Failures>(
    `${withParts(open.again)}
     select ${failures} from (
       select status from tracer.trace t where ${where} and status > 0 ${open.andNotAgain}
       ${open.ifAny(`union all
       select status from tracer.open_trace t where ${where} and status > 0 and ${isFirstOpen}
       union all
       select status from again t where ${where} and status > 0`)}
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
