-- Executions of workflows and the journal of their nodes. Inputs, outputs and errors are JSON texts:
-- nothing looks into them, and jsonb refuses some of JSON.

-- A process that runs executions; one that has not beaten for a while is dead.
create table workflow.replicas (
  id text primary key,
  beat_at timestamptz not null
);

create table workflow.executions (
  id text primary key,
  workflow_id text not null,
  version integer not null,
  status text not null
    check (status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  cause text not null,
  owner_id text not null,
  idempotency_key text,
  request text not null,
  caller_token text,
  batch_id text,
  batch_index integer,
  parent_id text,
  -- Who runs it, and how often that changed: what an earlier one still writes is not taken.
  replica text,
  epoch integer not null default 1,
  -- How many signals came for its parked nodes, so that none is missed while it parks.
  signals integer not null default 0,
  -- How often it was resumed after it had ended.
  resumes integer not null default 0,
  started_at timestamptz not null,
  deadline_at timestamptz,
  wake_at timestamptz,
  completed_at timestamptz,
  tokens_used integer not null default 0,
  cost double precision not null default 0,
  outcome text,
  -- When its end has to be told again, unless that was done.
  tell_at timestamptz
);

create unique index executions_by_key on workflow.executions (owner_id, idempotency_key)
  where idempotency_key is not null;

create index executions_of_workflow on workflow.executions (workflow_id, id);

create index executions_of_owner on workflow.executions (owner_id, id);

create index executions_open on workflow.executions (id) where completed_at is null;

create index executions_waking on workflow.executions (wake_at) where status = 'waiting';

create index executions_untold on workflow.executions (tell_at) where tell_at is not null;

create index executions_of_batch on workflow.executions (batch_id, batch_index)
  where batch_id is not null;

create index executions_of_parent on workflow.executions (parent_id) where parent_id is not null;

-- `continued` is a failure that the flow went on from, `signalled` a parked node that was answered and
-- whose execution has not taken the answer yet.
create table workflow.node_runs (
  execution_id text not null,
  node_id text not null,
  iteration text not null,
  status text not null check (status in
    ('waiting', 'signalled', 'completed', 'failed', 'continued', 'skipped', 'cancelled')),
  output text,
  body text not null,
  primary key (execution_id, node_id, iteration)
);

-- What happened, without the outputs of nodes; `seq` is that of the last event of a row.
create table workflow.execution_events (
  execution_id text not null,
  seq integer not null,
  body text not null,
  primary key (execution_id, seq)
);
