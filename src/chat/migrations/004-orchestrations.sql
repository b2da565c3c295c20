create table chat.orchestrations (
  id text primary key,
  owner_id text not null,
  task text not null,
  -- JSON
  context text,
  is_parallel boolean not null,
  -- running, completed, partial, failed, cancelled
  status text not null,
  created_at timestamptz not null,
  deadline_at timestamptz not null,
  ended_at timestamptz,
  -- who runs it, until when nobody else may, and how often it changed hands
  replica text not null,
  lease_until timestamptz not null,
  epoch integer not null default 1
);

create index orchestrations_of_owner on chat.orchestrations (owner_id, created_at desc, id desc);
create index orchestrations_open on chat.orchestrations (lease_until) where ended_at is null;

create table chat.orchestration_steps (
  orchestration_id text not null references chat.orchestrations (id) on delete cascade,
  -- from 1, in the order of the request
  place integer not null,
  agent_id text not null,
  name text not null,
  task_type text not null,
  -- pending, running, completed, failed, cancelled
  status text not null,
  -- the mesh's task
  task_id text,
  -- JSON
  result text,
  -- JSON
  error text,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (orchestration_id, place)
);
