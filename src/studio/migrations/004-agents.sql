create table studio.agents (
  id text primary key,
  name text not null,
  type text not null,
  template text not null,
  status text not null check (status in
    ('starting', 'running', 'restarting', 'stopping', 'stopped', 'expired', 'failed')),
  capabilities text[] not null,
  runtime text not null check (runtime in ('local', 'docker', 'kubernetes')),
  workspace_id text references studio.workspaces (id) on delete cascade,
  owner_id text not null,
  cpu double precision not null,
  memory bigint not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz,
  restarts integer not null default 0,
  -- JSON: why it failed last
  failure text,
  -- grows with every change that others hear of
  revision integer not null default 1,
  -- how it is to end, once somebody asked for it
  wanted text check (wanted in ('stopped', 'expired', 'removed')),
  -- the process that runs it, until the lease ends
  replica text,
  -- the machine on which a local one runs
  place text,
  lease_until timestamptz,
  -- by which its runtime finds the program again
  reference text,
  -- of its API key at auth
  key_id text,
  -- JSON: when it was started again lately, in milliseconds
  restarted_at text not null default '[]',
  -- what it took when the lease was last renewed
  use_cpu double precision,
  use_memory bigint
);

create index agents_by_owner on studio.agents (owner_id);
create index agents_by_workspace on studio.agents (workspace_id);
create index agents_live on studio.agents (id)
  where status not in ('stopped', 'expired', 'failed');

-- What agents printed; the oldest lines go.
create table studio.agent_logs (
  agent_id text not null references studio.agents (id) on delete cascade,
  seq bigint not null,
  at timestamptz not null,
  stream text not null check (stream in ('stdout', 'stderr', 'studio')),
  text text not null,
  primary key (agent_id, seq)
);
