-- Many executions of one workflow at once. A batch is run by one replica at a time, which holds its
-- lease; `epoch` grows with each change of hands, and what an earlier owner still writes is not taken.
create table workflow.batches (
  id text primary key,
  workflow_id text not null,
  version integer not null,
  owner_id text not null,
  -- Of what components ask for, what the owner held at the start.
  permissions text[] not null default '{}',
  idempotency_key text,
  status text not null
    check (status in ('processing', 'cancelling', 'completed', 'failed', 'cancelled')),
  concurrency integer not null,
  failure_mode text not null check (failure_mode in ('continue', 'stop')),
  -- Sealed: addresses may hold secrets.
  progress_callback text,
  total integer not null,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  skipped integer not null default 0,
  -- Of the last item that ended, and of the batch's own end.
  last_seq integer not null default 0,
  tokens_used bigint not null default 0,
  cost double precision not null default 0,
  epoch integer not null default 0,
  lease_until timestamptz,
  created_at timestamptz not null,
  -- What ended before this and did not complete is taken up again.
  resumed_at timestamptz not null,
  completed_at timestamptz
);
create index batches_owner on workflow.batches (owner_id, id);
create index batches_workflow on workflow.batches (workflow_id, id);
create index batches_open on workflow.batches (id) where completed_at is null;
create unique index batches_by_key on workflow.batches (owner_id, idempotency_key)
  where idempotency_key is not null;

-- Inputs and errors are JSON texts: nothing looks into them, and jsonb refuses some of JSON.
create table workflow.batch_items (
  batch_id text not null references workflow.batches (id) on delete cascade,
  index integer not null,
  status text not null default 'pending'
    check (status in ('pending', 'running', 'completed', 'failed', 'cancelled', 'skipped')),
  inputs text not null,
  execution_id text,
  error text,
  -- Of its end in the order of ends within the batch.
  seq integer,
  ended_at timestamptz,
  primary key (batch_id, index)
);
create index batch_items_status on workflow.batch_items (batch_id, status, index);
create index batch_items_seq on workflow.batch_items (batch_id, seq) where seq is not null;

-- Callbacks to be sent, each at least once.
create table workflow.callbacks (
  seq bigint generated always as identity primary key,
  id text not null unique,
  -- The execution or batch that it tells of.
  subject_id text not null,
  event text not null,
  -- One row for each; the same again changes nothing, but for progress, which replaces what waits.
  dedupe_key text not null unique,
  origin text not null,
  -- Sealed: {url, secret}.
  target text not null,
  -- By which deliveries to one address are kept from running at the same time.
  address_hash text not null,
  body text not null,
  revision integer not null default 1,
  status text not null default 'pending'
    check (status in ('pending', 'delivered', 'failed', 'superseded')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  claimed_until timestamptz,
  created_at timestamptz not null,
  delivered_at timestamptz,
  -- Of the last attempt.
  answer integer,
  error text
);
create index callbacks_subject on workflow.callbacks (subject_id, seq);
create index callbacks_pending on workflow.callbacks (due_at, seq) where status = 'pending';
create index callbacks_claimed on workflow.callbacks (address_hash)
  where claimed_until is not null;
create index callbacks_created on workflow.callbacks (created_at);

-- What starts a workflow by itself.
create table workflow.triggers (
  id text primary key,
  workflow_id text not null,
  owner_id text not null,
  -- Of what components ask for, what the owner held when it was made or changed.
  permissions text[] not null default '{}',
  type text not null check (type in ('schedule', 'webhook', 'event')),
  name text,
  is_enabled boolean not null,
  -- JSON of the type's own settings, with the inputs.
  settings text not null,
  -- Of a webhook, sealed.
  secret text,
  -- Of an event trigger.
  topic text,
  revision integer not null default 1,
  -- Of an enabled schedule: when it fires next.
  next_at timestamptz,
  fired_count bigint not null default 0,
  fired_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index triggers_workflow on workflow.triggers (workflow_id, id);
create index triggers_due on workflow.triggers (next_at) where next_at is not null;
create index triggers_topic on workflow.triggers (id) where topic is not null;

-- Each time that a trigger fired; the key is the due time, the delivery or the event, so that of
-- several replicas one starts it.
create table workflow.trigger_firings (
  id text primary key,
  trigger_id text not null references workflow.triggers (id) on delete cascade,
  key text not null,
  status text not null check (status in ('claimed', 'queued', 'started', 'skipped', 'failed')),
  at timestamptz not null,
  -- While it is claimed: when the claim counts as given up.
  claimed_until timestamptz,
  -- Until it has started.
  inputs text,
  execution_id text,
  error text,
  unique (trigger_id, key)
);
create index trigger_firings_history on workflow.trigger_firings (trigger_id, id);
create index trigger_firings_open on workflow.trigger_firings (trigger_id, id)
  where status in ('claimed', 'queued');
create index trigger_firings_started on workflow.trigger_firings (trigger_id, id)
  where status = 'started';
create index trigger_firings_at on workflow.trigger_firings (at);
