-- What the registry may show a server: tokens and client secrets, sealed.
create table registry.authorizations (
  connection_id text primary key,
  sealed text not null,
  -- Grows with each renewal; tells a renewed token from the one that was refused.
  version integer not null default 1,
  -- One replica renews at a time.
  renewing_until timestamptz,
  updated_at timestamptz not null default now()
);

-- A login that somebody has begun at the server's authorization server.
create table registry.authorization_flows (
  -- SHA-256 of the state: the table alone finishes no login.
  state_hash text primary key,
  connection_id text not null,
  sealed text not null,
  created_at timestamptz not null default now()
);

create index authorization_flows_created_at on registry.authorization_flows (created_at);
