create table mesh.swarms (
  id text primary key,
  name text not null,
  owner_id text not null,
  -- The name of the mesh in what members sign; fixed for the swarm's life.
  mesh_id text not null,
  -- What members sign of name and task.
  proposal_id text not null,
  -- {type, input} as JSON text: jsonb would refuse U+0000.
  task text not null,
  threshold integer not null,
  timeout_ms bigint not null,
  -- Grows with every change; whoever decided from an older one decides again.
  version integer not null default 1,
  -- active, consensus-reached, rejected, timed-out or cancelled
  status text not null default 'active',
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index swarms_due on mesh.swarms (expires_at) where status = 'active';
create index swarms_owner on mesh.swarms (owner_id) where status = 'active';
create index swarms_ended on mesh.swarms (ended_at) where ended_at is not null;
create index swarms_status on mesh.swarms (status, id);

create table mesh.swarm_members (
  swarm_id text not null references mesh.swarms (id) on delete cascade,
  agent_id text not null,
  -- As they were when the agent became a member: a new owner of the id inherits no vote.
  owner_id text not null,
  vote_key text,
  joined_at timestamptz,
  place integer not null,
  primary key (swarm_id, agent_id)
);

-- At most three a member, whatever it sends: one for each value.
create table mesh.swarm_votes (
  swarm_id text not null,
  agent_id text not null,
  vote text not null,
  -- counted; conflict: it differs from an earlier one of the member; late: the swarm had ended
  kind text not null,
  confidence double precision not null,
  signature text,
  cast_at timestamptz not null,
  seq bigint generated always as identity,
  primary key (swarm_id, agent_id, vote),
  foreign key (swarm_id, agent_id) references mesh.swarm_members on delete cascade
);
-- One slot a member, whatever the code does.
create unique index swarm_votes_slot on mesh.swarm_votes (swarm_id, agent_id)
  where kind = 'counted';
