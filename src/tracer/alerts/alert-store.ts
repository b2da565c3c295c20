import type { Database } from '../../kit/database/database.ts';
import type { Alert, AlertSettings, Severity, SealedNotification } from './alert.ts';
import type { AlertCondition } from './condition.ts';

export type AlertSql = Pick<Database, 'query'>;

interface AlertRow {
  readonly id: string;
  readonly name: string;
  readonly condition: AlertCondition;
  readonly notifications: readonly SealedNotification[];
  readonly severity: Severity;
  readonly is_enabled: boolean;
  readonly revision: number;
  readonly is_firing: boolean;
  readonly firing_since: Date | null;
  readonly evaluated_at: Date | null;
  readonly value: number | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = `id, name, condition, notifications, severity, is_enabled, revision, is_firing,
  firing_since, evaluated_at, value, created_by, created_at, updated_at`;

export interface NewAlert extends AlertSettings {
  readonly id: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** Undefined, and nothing is stored, when there are `countMax` alerts or more. */
export async function insertAlert(
  sql: AlertSql,
  alert: NewAlert,
  countMax: number,
): Promise<Alert | undefined> {
  const [row] = await sql.query<AlertRow>(
    `insert into tracer.alerts (id, name, condition, notifications, severity, is_enabled,
       created_by, created_at, updated_at)
     select $1, $2, $3::jsonb, $4::jsonb, $5, $6, $7, $8::timestamptz, $8::timestamptz
     where (select count(*) from tracer.alerts) < $9
     returning ${columns}`,
    [...settingsOf(alert), alert.createdBy, alert.createdAt, countMax],
  );
  return row && toAlert(row);
}

export async function readAlert(sql: AlertSql, id: string): Promise<Alert | undefined> {
  const [row] = await sql.query<AlertRow>(`select ${columns} from tracer.alerts where id = $1`, [
    id,
  ]);
  return row && toAlert(row);
}

/** One page, the newest first, and how many there are. */
export async function listAlerts(
  sql: AlertSql,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly alerts: Alert[]; readonly total: number }> {
  const [rows, [all]] = await Promise.all([
    sql.query<AlertRow>(
      `select ${columns} from tracer.alerts order by created_at desc, id desc limit $1 offset $2`,
      [limit, offset],
    ),
    sql.query<{ total: number }>('select count(*) as total from tracer.alerts'),
  ]);
  return { alerts: rows.map(toAlert), total: all?.total ?? 0 };
}

export interface AlertChange extends AlertSettings {
  readonly id: string;
  /** The one that the change was made from. */
  readonly revision: number;
  /** Of the event that says so, should it silence a firing alert. */
  readonly eventId: string;
  readonly at: Date;
}

/**
 * Stores an alert's new settings; undefined, and nothing is stored, when somebody else changed it
 * meanwhile. One that is paused fires no more, and what was not yet sent of it is not sent.
 */
export async function updateAlert(sql: AlertSql, change: AlertChange): Promise<Alert | undefined> {
  const [row] = await sql.query<AlertRow>(
    `with before as (
       select id, is_firing, firing_since, value from tracer.alerts
       where id = $1 and revision = $7 for update
     ), changed as (
       update tracer.alerts a set name = $2, condition = $3::jsonb, notifications = $4::jsonb,
         severity = $5, is_enabled = $6, revision = a.revision + 1, updated_at = $8::timestamptz,
         is_firing = a.is_firing and $6,
         firing_since = case when $6 then a.firing_since end, evaluated_at = null,
         value = case when a.condition = $3::jsonb then a.value end
       from before where a.id = before.id
       returning a.*
     ), event as (
       insert into tracer.alert_events (id, alert_id, kind, at, facts)
       select $9, c.id, 'silenced', $8::timestamptz, jsonb_build_object('name', c.name,
         'severity', c.severity, 'condition', c.condition, 'value', b.value,
         'firedAt', to_char(b.firing_since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'traceIds', '[]'::jsonb)
       from changed c join before b on b.id = c.id
       where b.is_firing and not c.is_enabled
     ), cancelled as (
       update tracer.alert_deliveries d set status = 'cancelled', error = 'the alert was paused'
       from changed c where d.alert_id = c.id and d.status = 'pending' and not c.is_enabled
     )
     select ${columns} from changed`,
    [...settingsOf(change), change.revision, change.at, change.eventId],
  );
  return row && toAlert(row);
}

/** With its history; false when there was none. */
export async function deleteAlert(sql: AlertSql, id: string): Promise<boolean> {
  const rows = await sql.query('delete from tracer.alerts where id = $1 returning id', [id]);
  return rows.length > 0;
}

/** Whether anything is sealed already. */
export async function hasSealedWebhook(sql: AlertSql): Promise<boolean> {
  const rows = await sql.query(
    `(select 1 from tracer.alerts where notifications @> '[{"type": "slack"}]' limit 1)
     union all
     (select 1 from tracer.alert_deliveries
      where status = 'pending' and notification @> '{"type": "slack"}' limit 1)`,
  );
  return rows.length > 0;
}

/**
 * Takes up the alerts that nobody evaluated for so long, so that of several replicas one does; those
 * of a clock that runs ahead too.
 */
export async function claimDueAlerts(
  sql: AlertSql,
  now: Date,
  everyMs: number,
): Promise<readonly Alert[]> {
  const rows = await sql.query<AlertRow>(
    `update tracer.alerts set evaluated_at = $1::timestamptz
     where id in (
       select id from tracer.alerts
       where is_enabled and (evaluated_at is null or evaluated_at <= $2::timestamptz
         or evaluated_at > $3::timestamptz)
       order by id for update skip locked)
     returning ${columns}`,
    [now, new Date(now.getTime() - everyMs), new Date(now.getTime() + everyMs)],
  );
  return rows.map(toAlert);
}

/** What an evaluation found. */
export interface Finding {
  readonly id: string;
  readonly revision: number;
  readonly value: number | undefined;
}

/** Writes down what was found, unless the alert has changed since. */
export async function recordValues(sql: AlertSql, findings: readonly Finding[]): Promise<void> {
  await sql.query(
    `update tracer.alerts a set value = f.value
     from unnest($1::text[], $2::integer[], $3::float8[]) as f(id, revision, value)
     where a.id = f.id and a.revision = f.revision and a.value is distinct from f.value`,
    [
      findings.map(({ id }) => id),
      findings.map(({ revision }) => revision),
      findings.map(({ value }) => value ?? null),
    ],
  );
}

/** In the order of the statements' first six parameters. */
function settingsOf(settings: AlertSettings & { readonly id: string }): unknown[] {
  const { id, name, condition, notifications, severity, isEnabled } = settings;
  // An array would become one of SQL.
  return [id, name, condition, JSON.stringify(notifications), severity, isEnabled];
}

function toAlert(row: AlertRow): Alert {
  const { id, name, condition, notifications, severity, revision, value } = row;
  return {
    id,
    name,
    condition,
    notifications,
    severity,
    revision,
    value,
    isEnabled: row.is_enabled,
    isFiring: row.is_firing,
    firingSince: row.firing_since,
    evaluatedAt: row.evaluated_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
