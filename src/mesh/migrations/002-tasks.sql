-- Tasks that were asked of agents. What an agent takes from its inbox is a task with is_inbox.
-- Inputs, results and failures are JSON texts: nothing looks into them, and jsonb refuses some of JSON.
create table mesh.tasks (
  id text primary key,
  asked_by text not null,
  idempotency_key text,
  request_hash text,
  agent_id text not null default '',
  -- Whose the agent was when it got the task: a later owner of the id inherits none.
  owner_id text not null default '',
  type text not null,
  priority smallint not null,
  status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  is_inbox boolean not null default false,
  input text,
  traceparent text,
  attempt integer not null default 0,
  lease_until timestamptz,
  result text,
  failure text,
  created_at timestamptz not null,
  deadline_at timestamptz not null,
  finished_at timestamptz
);

create unique index tasks_by_key on mesh.tasks (asked_by, idempotency_key)
  where idempotency_key is not null;

create index tasks_of_inbox on mesh.tasks (agent_id, owner_id, priority desc, created_at, id)
  where is_inbox and finished_at is null;

create index tasks_by_end on mesh.tasks (created_at);
