-- Tasks of agents. Inputs, what is kept of the workspace's settings, results, artefacts and failures are
-- JSON texts: nothing looks into them.
create table studio.tasks (
  id text primary key,
  -- rises with each change
  version integer not null default 1,
  type text not null,
  priority smallint not null,
  status text not null check (status in ('queued', 'assigned', 'running', 'completed', 'failed')),
  owner_id text not null,
  idempotency_key text,
  request_hash text,
  workspace_id text,
  wanted_agent text,
  assigned_agent text,
  -- how often the agent had been started again when it got the task
  agent_restarts integer,
  attempt integer not null default 0,
  -- the mesh's task, or the workflow's execution, of the attempt
  run_id text,
  -- it has ended here, and whoever does it must still be told so
  is_stopping boolean not null default false,
  requirements text not null,
  input text not null,
  settings text not null,
  traceparent text,
  result text,
  artefacts text,
  failure text,
  created_at timestamptz not null,
  -- of the attempt
  started_at timestamptz,
  ended_at timestamptz
);

create unique index tasks_by_key on studio.tasks (owner_id, idempotency_key)
  where idempotency_key is not null;
create index tasks_open on studio.tasks (id) where ended_at is null;
create index tasks_stopping on studio.tasks (id) where is_stopping;
create index tasks_by_owner on studio.tasks (owner_id, id desc);
create index tasks_by_workspace on studio.tasks (workspace_id, id desc);
create index tasks_by_wanted_agent on studio.tasks (wanted_agent, id desc);
create index tasks_by_assigned_agent on studio.tasks (assigned_agent, id desc);
create index tasks_by_end on studio.tasks (ended_at) where ended_at is not null;

-- The one replica that gives tasks to agents, for as long as its lease holds. What it writes counts only
-- under its epoch.
create table studio.task_dispatcher (
  id integer primary key check (id = 1),
  replica text not null,
  epoch integer not null,
  lease_until timestamptz not null
);
