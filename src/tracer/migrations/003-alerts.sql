create table tracer.alerts (
  id text primary key,
  name text not null,
  -- {metric, operator, threshold, timeWindow, agentId?, operation?}
  condition jsonb not null,
  -- [{type: slack, origin, webhook (sealed), channel?} | {type: email, recipients}]
  notifications jsonb not null,
  severity text not null,
  is_enabled boolean not null,
  -- Grows with every change, so that what was found out about another condition moves nothing.
  revision integer not null default 1,
  is_firing boolean not null default false,
  firing_since timestamptz,
  -- When a replica last took it up, and what it found; null: the window was empty.
  evaluated_at timestamptz,
  value double precision,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- What became of alerts: fired, resolved, silenced.
create table tracer.alert_events (
  id text primary key,
  alert_id text not null references tracer.alerts (id) on delete cascade,
  kind text not null,
  at timestamptz not null,
  -- What its messages say: {name, severity, condition, value, firedAt, traceIds}
  facts jsonb not null
);
create index alert_events_alert on tracer.alert_events (alert_id, at desc, id desc);
create index alert_events_at on tracer.alert_events (at);

-- Messages to be sent, each written in the statement that moved its alert.
create table tracer.alert_deliveries (
  seq bigint generated always as identity primary key,
  event_id text not null references tracer.alert_events (id) on delete cascade,
  alert_id text not null references tracer.alerts (id) on delete cascade,
  -- Of the notification among those of its alert, from 1; what goes to one place stays in order.
  place integer not null,
  -- As the alert had it when it moved.
  notification jsonb not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  -- While somebody is at it: when it counts as given up.
  due_at timestamptz not null,
  delivered_at timestamptz,
  error text
);
create index alert_deliveries_event on tracer.alert_deliveries (event_id);
create index alert_deliveries_pending on tracer.alert_deliveries (alert_id, place, seq)
  where status = 'pending';
