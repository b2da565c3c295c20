import type { Database } from '../../kit/database/database.ts';
import type { SpendSums } from './spend-sums.ts';

/** What the statements about money run on. */
export type MoneySql = Pick<Database, 'query'>;

/** What reports add up by. */
export type SpendGroup = 'key' | 'model' | 'provider' | 'day';

export interface SpendQuery {
  /** Days in UTC, `2026-11-21`, both included. */
  readonly from: string;
  readonly to: string;
  readonly groupBy: SpendGroup;
  /** Absent: of all. */
  readonly subject: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface SpendTotals {
  readonly requests: number;
  readonly cachedRequests: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly dollars: number;
}

export interface SpendSum extends SpendTotals {
  /** The subject, model, provider or day. */
  readonly group: string;
  /** Of a subject, where it has a name for people. */
  readonly name: string | undefined;
}

/** Sums of one run's entries from the one after `after` through `through`. */
export interface SpendBatch {
  readonly run: string;
  readonly after: number;
  readonly through: number;
  readonly sums: readonly SpendSums[];
  /** What was held for the entries. */
  readonly holds: readonly string[];
}

interface SumRow {
  readonly requests: number;
  readonly cached_requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly dollars: string;
}

/**
 * Counts a batch and frees what was held for it, if the run was counted through `after` exactly; else
 * does nothing. Answers through which entry the run is counted now.
 */
export async function recordSpends(sql: MoneySql, batch: SpendBatch): Promise<number> {
  const { run, after, through, sums, holds } = batch;
  const [row] = await sql.query<{ through: number }>(
    `select gateway.record_spends($1, $2, $3, $4::date[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
       $14::numeric[], $15::text[]) as through`,
    [
      run,
      after,
      through,
      sums.map(({ day }) => day),
      sums.map(({ subject }) => subject),
      sums.map(({ name }) => name),
      sums.map(({ provider }) => provider),
      sums.map(({ model }) => model),
      sums.map(({ requests }) => requests),
      sums.map(({ cachedRequests }) => cachedRequests),
      sums.map(({ inputTokens }) => inputTokens),
      sums.map(({ cachedInputTokens }) => cachedInputTokens),
      sums.map(({ outputTokens }) => outputTokens),
      sums.map(({ picodollars }) => String(picodollars)),
      holds,
    ],
  );
  if (!row) throw new Error('the database did not say how far the run is counted');
  return row.through;
}

const sumColumns = `
  coalesce(sum(requests), 0)::bigint as requests,
  coalesce(sum(cached_requests), 0)::bigint as cached_requests,
  coalesce(sum(input_tokens), 0)::bigint as input_tokens,
  coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens,
  coalesce(sum(output_tokens), 0)::bigint as output_tokens,
  coalesce(sum(dollars), 0) as dollars`;
const matching = `
  from gateway.spend_days
  where day between $1::date and $2::date and ($3::text is null or subject = $3)`;

const groupColumns: Readonly<Record<SpendGroup, string>> = {
  key: 'subject',
  model: 'model',
  provider: 'provider',
  day: 'day::text',
};

/** One page of sums, the dearest first (days: the newest first), with the sum of all and how many. */
export async function readSpend(
  sql: MoneySql,
  { from, to, groupBy, subject, limit, offset }: SpendQuery,
): Promise<{ spend: SpendSum[]; totals: SpendTotals; total: number }> {
  const column = groupColumns[groupBy];
  const name = groupBy === 'key' ? 'max(name)' : 'null::text';
  const order = groupBy === 'day' ? '1 desc' : 'dollars desc, requests desc, 1';
  const filter = [from, to, subject];
  const [rows, [all]] = await Promise.all([
    sql.query<SumRow & { group: string; name: string | null }>(
      `select ${column} as "group", ${name} as name, ${sumColumns} ${matching}
       group by 1 order by ${order} limit $4 offset $5`,
      [...filter, limit, offset],
    ),
    sql.query<SumRow & { groups: number }>(
      `select count(distinct ${column}) as groups, ${sumColumns} ${matching}`,
      filter,
    ),
  ]);
  return {
    spend: rows.map((row) => ({ group: row.group, name: row.name ?? undefined, ...toTotals(row) })),
    totals: all ? toTotals(all) : noTotals,
    total: all?.groups ?? 0,
  };
}

/** Deletes what was kept for a time: places in journals, holds of dead processes. */
export async function deleteOldSpends(sql: MoneySql): Promise<void> {
  // Far longer than any journal waits for its database.
  await sql.query(`delete from gateway.spend_runs where moved_at < now() - interval '400 days'`);
  await sql.query(
    `delete from gateway.reservations where id in (
       select id from gateway.reservations where expires_at < now() - interval '1 minute'
       for update skip locked)`,
  );
}

const noTotals: SpendTotals = {
  requests: 0,
  cachedRequests: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  dollars: 0,
};

function toTotals(row: SumRow): SpendTotals {
  return {
    requests: row.requests,
    cachedRequests: row.cached_requests,
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens,
    outputTokens: row.output_tokens,
    dollars: Number(row.dollars),
  };
}
