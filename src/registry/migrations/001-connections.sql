-- Orders every change of a connection, whichever replica made it.
create sequence registry.connection_revisions;

create table registry.connections (
  connection_id text primary key,
  name text not null,
  -- server, client
  type text not null,
  -- stdio, http, websocket
  protocol text not null,
  -- active, idle, disconnected, error
  status text not null,
  -- The subject of the token that registered it.
  owner_id text not null,
  revision bigint not null default nextval('registry.connection_revisions'),
  -- {command, args} or {url}; an empty command or url: a client that told none.
  endpoint json not null,
  -- Sealed JSON {env} or {headers}; null for none.
  secrets text,
  -- {approvedBy, approvedAtMs}; null: the command may not run.
  approval json,
  -- [{name, description?, schema?}]
  declared json not null,
  -- json keeps the order of members, which schemas are read in.
  -- What the server said: its tools, prompts, resources; who it is; the digests that were pinned.
  offer json,
  server json,
  pins json,
  quarantined json not null default '[]',
  metadata json not null,
  -- {enabled, interval in seconds, timeout in milliseconds}
  health_check json not null,
  health jsonb not null,
  -- Milliseconds since the epoch.
  created_at_ms bigint not null,
  last_active_at_ms bigint not null,
  disconnected_at_ms bigint
) with (fillfactor = 70);

create unique index connections_name on registry.connections (name) where status <> 'disconnected';
