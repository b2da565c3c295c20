import { sql as raw } from 'kysely';
import type { AuditRow, Sql } from '../tables.ts';

/** A stored event; `seq` orders all events. */
export type AuditRecord = Omit<AuditRow, 'seq'>;

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

/** Stores events in the order given, in one statement. */
export async function insertAuditRecords(sql: Sql, records: readonly AuditRecord[]): Promise<void> {
  const columns = [
    records.map(({ event_type }) => event_type),
    records.map(({ user_id }) => user_id),
    records.map(({ occurred_at }) => occurred_at),
    records.map(({ ip }) => ip),
    records.map(({ user_agent }) => user_agent),
    records.map(({ client_id }) => client_id),
    records.map(({ metadata }) => JSON.stringify(metadata)),
  ] as const;
  await raw`
    insert into auth.audit (event_type, user_id, occurred_at, ip, user_agent, client_id, metadata)
    select type, subject, at, address, agent, client, facts::jsonb
    from unnest(
      ${columns[0]}::text[], ${columns[1]}::text[], ${columns[2]}::timestamptz[],
      ${columns[3]}::text[], ${columns[4]}::text[], ${columns[5]}::text[], ${columns[6]}::text[]
    ) with ordinality as event (type, subject, at, address, agent, client, facts, place)
    order by place
  `.execute(sql);
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
