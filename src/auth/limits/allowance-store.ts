import { sql as raw } from 'kysely';
import type { Sql } from '../tables.ts';

/** What is asked of one bucket. */
export interface AllowanceAsk {
  readonly key: string;
  /** The bucket's size. */
  readonly attempts: number;
  /** In which one attempt grows back. */
  readonly spacingSeconds: number;
  /** Attempts that were granted before and not used. */
  readonly backs: number;
  /** Attempts wanted at once, as many as there are; 0 only gives back. */
  readonly needs: number;
  /** Attempts wanted beyond that, as long as they are at most a quarter of what is left. */
  readonly wants: number;
}

/** What a bucket gave, and how it stands after that. */
export interface AllowanceGrant {
  readonly granted: number;
  readonly remaining: number;
  readonly fullInSeconds: number;
  /** Until one attempt fits. */
  readonly waitSeconds: number;
}

interface GrantRow {
  readonly granted: number;
  readonly remaining: number;
  readonly full_in: number;
  readonly wait: number;
}

/**
 * Serves groups of asks in one statement, in the order given and by the database's clock. A group
 * gets something of every bucket that it asks, or nothing of any.
 */
export async function takeAllowances(
  sql: Sql,
  groups: readonly (readonly AllowanceAsk[])[],
): Promise<AllowanceGrant[][]> {
  const asks = groups.flat();
  const keys = [...new Set(asks.map(({ key }) => key))].toSorted();
  const slots = new Map(keys.map((key, at) => [key, at + 1]));
  const groupNumbers = groups.flatMap((group, at) => group.map(() => at));
  const { rows } = await raw<GrantRow>`
    select granted, remaining, full_in, wait from auth.take_allowances(
      ${keys}::text[], ${groupNumbers}::integer[],
      ${asks.map(({ key }) => slots.get(key))}::integer[],
      ${asks.map(({ spacingSeconds }) => spacingSeconds)}::float8[],
      ${asks.map(({ attempts }) => attempts)}::float8[],
      ${asks.map(({ backs }) => backs)}::float8[],
      ${asks.map(({ needs }) => needs)}::float8[],
      ${asks.map(({ wants }) => wants)}::float8[])
  `.execute(sql);
  let end = 0;
  return groups.map((group) => rows.slice(end, (end += group.length)).map(toGrant));
}

/** Removes the buckets that are full; those in use right now stay until the next time. */
export async function deleteFullAllowances(sql: Sql): Promise<void> {
  await raw`
    delete from auth.allowances where key in (
      select key from auth.allowances where full_at < clock_timestamp() for update skip locked)
  `.execute(sql);
}

function toGrant({ granted, remaining, full_in, wait }: GrantRow): AllowanceGrant {
  return { granted, remaining, fullInSeconds: full_in, waitSeconds: wait };
}
