import type { Database } from '../../kit/database/database.ts';
import type { SpendEntry } from './spend-entry.ts';

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

export interface RecentQuery {
  readonly subject: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface RecentRow {
  readonly id: string;
  readonly spent_at: Date;
  readonly subject: string;
  readonly name: string | null;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly dollars: string;
  readonly outcome: string;
}

interface SumRow {
  readonly requests: number;
  readonly cached_requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly dollars: string;
}

/** Moves entries of one run, in ascending order, exactly once however often it is called. */
export async function recordSpends(sql: MoneySql, entries: readonly SpendEntry[]): Promise<void> {
  await sql.query(
    `select gateway.record_spends($1, $2::bigint[], $3::timestamptz[], $4::text[], $5::text[],
       $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::numeric[],
       $12::text[], $13::boolean[], $14::text[])`,
    [
      entries[0]?.run,
      entries.map(({ seq }) => seq),
      entries.map(({ atMs }) => new Date(atMs)),
      entries.map(({ subject }) => subject),
      entries.map(({ name }) => name),
      entries.map(({ provider }) => provider),
      entries.map(({ model }) => model),
      entries.map(({ inputTokens }) => inputTokens),
      entries.map(({ cachedInputTokens }) => cachedInputTokens),
      entries.map(({ outputTokens }) => outputTokens),
      // As text: the shortest decimal that is the number, so that sums are exact.
      entries.map(({ dollars }) => String(dollars)),
      entries.map(({ outcome }) => outcome),
      entries.map(({ isExtra }) => isExtra),
      entries.flatMap(({ hold }) => hold ?? []),
    ],
  );
}

const sums = `
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
      `select ${column} as "group", ${name} as name, ${sums} ${matching}
       group by 1 order by ${order} limit $4 offset $5`,
      [...filter, limit, offset],
    ),
    sql.query<SumRow & { groups: number }>(
      `select count(distinct ${column}) as groups, ${sums} ${matching}`,
      filter,
    ),
  ]);
  return {
    spend: rows.map((row) => ({ group: row.group, name: row.name ?? undefined, ...toTotals(row) })),
    totals: all ? toTotals(all) : noTotals,
    total: all?.groups ?? 0,
  };
}

/** Single spends of the last days, the newest first, and how many there are. */
export async function readRecentSpends(sql: MoneySql, { subject, limit, offset }: RecentQuery) {
  const where = 'from gateway.spends where ($1::text is null or subject = $1)';
  const [rows, [all]] = await Promise.all([
    sql.query<RecentRow>(
      `select id, spent_at, subject, name, provider, model, input_tokens, cached_input_tokens,
         output_tokens, dollars, outcome ${where} order by number desc limit $2 offset $3`,
      [subject, limit, offset],
    ),
    sql.query<{ total: number }>(`select count(*) as total ${where}`, [subject]),
  ]);
  return { rows, total: all?.total ?? 0 };
}

/** Deletes what was kept for a time: single spends, places in journals, holds of dead processes. */
export async function deleteOldSpends(sql: MoneySql, recentMax: number): Promise<void> {
  await sql.query(
    `delete from gateway.spends
     where spent_at < now() - interval '7 days'
       or number <= (select max(number) from gateway.spends) - $1::bigint`,
    [recentMax],
  );
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
