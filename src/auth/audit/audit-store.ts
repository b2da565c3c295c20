import { sql as raw } from 'kysely';
import type { Sql } from '../tables.ts';
import { digestOf, type AuditRecord } from './chain.ts';

export interface AuditFilter {
  readonly eventType?: string | undefined;
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export interface AuditQuery extends AuditFilter {
  readonly limit: number;
  readonly offset: number;
}

/** Appends events to the chain in the order given, in one statement; the answer is the last number. */
export async function appendAuditRecords(
  sql: Sql,
  records: readonly AuditRecord[],
): Promise<number> {
  const { rows } = await raw<{ seq: number }>`
    select auth.append_audit(
      ${auditArrays(records)}) as seq
  `.execute(sql);
  return rows[0]?.seq ?? 0;
}

/** Events as `auth.append_audit` takes them: an array for each column, and one of their digests. */
export function auditArrays(records: readonly AuditRecord[]) {
  return raw`
      ${records.map(({ event_type }) => event_type)}::text[],
      ${records.map(({ user_id }) => user_id)}::text[],
      ${records.map(({ occurred_at }) => occurred_at)}::timestamptz[],
      ${records.map(({ ip }) => ip)}::text[],
      ${records.map(({ user_agent }) => user_agent)}::text[],
      ${records.map(({ client_id }) => client_id)}::text[],
      ${records.map(({ metadata }) => JSON.stringify(metadata))}::text[],
      ${records.map(digestOf)}::bytea[]`;
}

/** Appends an event when the transaction ends, so that the chain is locked no longer than that. */
export async function insertPendingRecord(trx: Sql, record: AuditRecord): Promise<void> {
  const metadata = JSON.stringify(record.metadata);
  const digest = digestOf(record);
  await trx
    .insertInto('audit_pending')
    .values({ ...record, metadata, digest })
    .execute();
}

/** One page of the events that match, the newest first, and how many match. */
export async function listAuditRecords(
  sql: Sql,
  query: AuditQuery,
): Promise<{ records: AuditRecord[]; total: number }> {
  const [records, { total }] = await Promise.all([
    matching(sql, query)
      .selectAll()
      .orderBy('seq', 'desc')
      .limit(query.limit)
      .offset(query.offset)
      .execute(),
    matching(sql, query)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { records, total };
}

function matching(sql: Sql, { eventType, userId, clientId, since, until }: AuditFilter) {
  let events = sql.selectFrom('audit');
  if (eventType !== undefined) events = events.where('event_type', '=', eventType);
  if (userId !== undefined) events = events.where('user_id', '=', userId);
  if (clientId !== undefined) events = events.where('client_id', '=', clientId);
  if (since) events = events.where('occurred_at', '>=', since);
  if (until) events = events.where('occurred_at', '<=', until);
  return events;
}
