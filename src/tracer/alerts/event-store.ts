import type { AlertSql } from './alert-store.ts';
import type { AlertEvent, AlertFacts, DeliveryState, EventKind } from './alert.ts';

/** From firing to not, or back. */
export interface Transition {
  readonly alertId: string;
  /** The alert's when it was evaluated. */
  readonly revision: number;
  readonly eventId: string;
  readonly kind: Extract<EventKind, 'fired' | 'resolved'>;
  readonly at: Date;
  readonly facts: AlertFacts;
}

/**
 * Moves an alert and writes the event and its messages, all in one statement. False, and nothing is
 * written, when it was moved already, changed or paused: of several replicas one gets true.
 */
export async function moveAlert(sql: AlertSql, transition: Transition): Promise<boolean> {
  const { alertId, revision, eventId, kind, at, facts } = transition;
  const rows = await sql.query(
    `with moved as (
       update tracer.alerts set is_firing = $3, firing_since = case when $3 then $4::timestamptz end
       where id = $1 and revision = $2 and is_enabled and is_firing <> $3
       returning id, notifications
     ), event as (
       insert into tracer.alert_events (id, alert_id, kind, at, facts)
       select $5, id, $6, $4::timestamptz, $7::jsonb from moved
     ), messages as (
       insert into tracer.alert_deliveries (event_id, alert_id, place, notification, due_at)
       select $5, moved.id, n.place, n.notification, $4::timestamptz
       from moved, jsonb_array_elements(moved.notifications)
         with ordinality as n(notification, place)
       order by n.place
     )
     select id from moved`,
    [alertId, revision, kind === 'fired', at, eventId, kind, facts],
  );
  return rows.length > 0;
}

interface EventRow {
  readonly id: string;
  readonly kind: EventKind;
  readonly at: Date;
  readonly facts: AlertFacts;
}

interface DeliveryRow {
  readonly event_id: string;
  readonly notification: DeliveryState['notification'];
  readonly status: DeliveryState['status'];
  readonly attempts: number;
  readonly due_at: Date;
  readonly delivered_at: Date | null;
  readonly error: string | null;
}

/** One page of an alert's events, the newest first, and how many there are. */
export async function listEvents(
  sql: AlertSql,
  alertId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly events: AlertEvent[]; readonly total: number }> {
  const [rows, [all]] = await Promise.all([
    sql.query<EventRow>(
      `select id, kind, at, facts from tracer.alert_events where alert_id = $1
       order by at desc, id desc limit $2 offset $3`,
      [alertId, limit, offset],
    ),
    sql.query<{ total: number }>(
      'select count(*) as total from tracer.alert_events where alert_id = $1',
      [alertId],
    ),
  ]);
  const deliveries = await listDeliveries(
    sql,
    rows.map(({ id }) => id),
  );
  const events = rows.map((row) => ({ ...row, deliveries: deliveries.get(row.id) ?? [] }));
  return { events, total: all?.total ?? 0 };
}

/** Deletes the events before a moment, with their messages. */
export async function deleteEventsBefore(sql: AlertSql, moment: Date): Promise<void> {
  await sql.query('delete from tracer.alert_events where at < $1::timestamptz', [moment]);
}

async function listDeliveries(
  sql: AlertSql,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DeliveryState[]>> {
  const found = new Map<string, DeliveryState[]>();
  if (eventIds.length === 0) return found;
  const rows = await sql.query<DeliveryRow>(
    `select event_id, notification, status, attempts, due_at, delivered_at, error
     from tracer.alert_deliveries where event_id = any($1::text[]) order by seq`,
    [eventIds],
  );
  for (const row of rows) {
    const { event_id: id, notification, status, attempts, error } = row;
    const state = { notification, status, attempts, error };
    const list = found.get(id) ?? [];
    list.push({ ...state, dueAt: row.due_at, deliveredAt: row.delivered_at });
    found.set(id, list);
  }
  return found;
}
