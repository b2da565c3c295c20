-- The client that the registry has registered itself as with a server's authorization server: whoever
-- logs in again does so as the same one.
create table registry.registered_clients (
  connection_id text primary key,
  sealed text not null,
  updated_at timestamptz not null default now()
);
