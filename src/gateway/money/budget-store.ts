import type { MoneySql } from './spend-store.ts';

export type BudgetUnit = 'requests' | 'tokens' | 'dollars';
export type BudgetPeriod = 'day' | 'month';

/** What a subject may take in each day or month of UTC. */
export interface BudgetLimit {
  readonly unit: BudgetUnit;
  readonly amount: number;
  readonly period: BudgetPeriod;
}

/** A limit as it stands. */
export interface LimitState extends BudgetLimit {
  readonly used: number;
  /** Held for requests on their way. */
  readonly reserved: number;
  /** When the next period begins. */
  readonly endsAt: Date;
}

export interface Budget {
  readonly subject: string;
  readonly limits: readonly LimitState[];
  readonly updatedAt: Date;
}

/** A limit that a request does not fit into. */
export interface ExceededLimit {
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  readonly amount: number;
  readonly used: number;
  readonly held: number;
  readonly wanted: number;
  readonly endsInSeconds: number;
}

export type ReserveOutcome =
  | { readonly state: 'held' }
  | { readonly state: 'no-budget' }
  | { readonly state: 'exceeded'; readonly limits: readonly ExceededLimit[] };

export interface Hold {
  readonly id: string;
  readonly subject: string;
  readonly tokens: number;
  readonly dollars: number;
  /** How long it counts unless it is extended. */
  readonly seconds: number;
}

interface ReserveRow {
  readonly has_budget: boolean;
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  readonly amount: string;
  readonly used: string;
  readonly held: string;
  readonly wanted: string;
  readonly ends_in: number;
}

interface BudgetRow {
  readonly subject: string;
  readonly updated_at: Date;
  readonly limits: readonly LimitRow[] | null;
}

interface LimitRow extends BudgetLimit {
  readonly used: number;
  readonly held: number;
  readonly ends_at: string;
}

/** Holds what a request may take, if it fits all limits; atomic over all replicas. */
export async function reserve(sql: MoneySql, hold: Hold): Promise<ReserveOutcome> {
  const rows = await sql.query<ReserveRow>(
    'select * from gateway.reserve($1, $2, $3::numeric, $4::numeric, $5::float8)',
    [hold.id, hold.subject, String(hold.tokens), String(hold.dollars), hold.seconds],
  );
  const [first] = rows;
  if (!first) return { state: 'held' };
  if (!first.has_budget) return { state: 'no-budget' };
  return { state: 'exceeded', limits: rows.map(toExceeded) };
}

/**
 * Lets holds count for so many seconds more, but none longer than an hour after it was made. Those
 * that are being freed are left out, so that nobody waits in a circle.
 */
export async function extendHolds(
  sql: MoneySql,
  ids: readonly string[],
  seconds: number,
): Promise<void> {
  await sql.query(
    `update gateway.reservations
     set expires_at = least(now() + make_interval(secs => $2), made_at + interval '1 hour')
     where id in (
       select id from gateway.reservations where id = any($1::text[]) for update skip locked)`,
    [ids, seconds],
  );
}

/** Frees holds of which nothing was spent. */
export async function deleteHolds(sql: MoneySql, ids: readonly string[]): Promise<void> {
  await sql.query('delete from gateway.reservations where id = any($1::text[])', [ids]);
}

/** True when the subject had none. */
export async function writeBudget(
  sql: MoneySql,
  subject: string,
  limits: readonly BudgetLimit[],
): Promise<boolean> {
  // A row that took the place of none was locked by nobody.
  const [row] = await sql.query<{ is_new: boolean }>(
    `insert into gateway.budgets (subject, limits) values ($1, $2::jsonb)
     on conflict (subject) do update set limits = excluded.limits, updated_at = clock_timestamp()
     returning xmax = 0 as is_new`,
    [subject, JSON.stringify(limits)],
  );
  return row?.is_new ?? false;
}

/** False when there was none. */
export async function deleteBudget(sql: MoneySql, subject: string): Promise<boolean> {
  const rows = await sql.query('delete from gateway.budgets where subject = $1 returning subject', [
    subject,
  ]);
  return rows.length > 0;
}

export async function listBudgetSubjects(sql: MoneySql): Promise<string[]> {
  const rows = await sql.query<{ subject: string }>('select subject from gateway.budgets');
  return rows.map(({ subject }) => subject);
}

const budgetColumns = `
  b.subject, b.updated_at, (
    select json_agg(json_build_object('unit', s.unit, 'period', s.period, 'amount', s.amount,
      'used', s.used, 'held', s.held, 'ends_at', s.ends_at) order by s.unit, s.period)
    from gateway.budget_state(b.subject, clock_timestamp()) as s) as limits`;

/** A budget with what was used and is held of it now. */
export async function readBudget(sql: MoneySql, subject: string): Promise<Budget | undefined> {
  const [row] = await sql.query<BudgetRow>(
    `select ${budgetColumns} from gateway.budgets b where b.subject = $1`,
    [subject],
  );
  return row && toBudget(row);
}

/** One page of the budgets by subject, and how many there are. */
export async function listBudgets(
  sql: MoneySql,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ budgets: Budget[]; total: number }> {
  const [rows, [all]] = await Promise.all([
    sql.query<BudgetRow>(
      `select ${budgetColumns} from gateway.budgets b order by b.subject limit $1 offset $2`,
      [limit, offset],
    ),
    sql.query<{ total: number }>('select count(*) as total from gateway.budgets'),
  ]);
  return { budgets: rows.map(toBudget), total: all?.total ?? 0 };
}

function toExceeded(row: ReserveRow): ExceededLimit {
  const { unit, period } = row;
  const [amount, used, held, wanted] = [row.amount, row.used, row.held, row.wanted].map(Number);
  return {
    unit,
    period,
    amount: amount ?? 0,
    used: used ?? 0,
    held: held ?? 0,
    wanted: wanted ?? 0,
    endsInSeconds: row.ends_in,
  };
}

function toBudget({ subject, updated_at, limits }: BudgetRow): Budget {
  return {
    subject,
    updatedAt: updated_at,
    limits: (limits ?? []).map(({ held, ends_at, ...limit }) => ({
      unit: limit.unit,
      amount: limit.amount,
      period: limit.period,
      used: limit.used,
      reserved: held,
      endsAt: new Date(ends_at),
    })),
  };
}
