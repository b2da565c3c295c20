-- Orders every change of an agent, whichever replica made it.
create sequence mesh.agent_revisions;

create table mesh.agents (
  agent_id text primary key,
  registration_id text not null,
  -- The subject of the token that registered it.
  owner_id text not null,
  -- Grows with every registration of the same id.
  epoch integer not null default 1,
  revision bigint not null default nextval('mesh.agent_revisions'),
  capabilities jsonb not null,
  metadata jsonb not null,
  endpoints jsonb not null,
  is_idempotent boolean not null,
  -- active, busy, draining, suspect, offline
  status text not null,
  -- What the agent says of itself, which it is again once it is heard of: active, busy, draining
  reported text not null,
  -- 0..1; null until the agent reports one.
  load double precision,
  -- Seconds.
  heartbeat_interval integer not null,
  -- Milliseconds since the epoch.
  registered_at_ms bigint not null,
  last_seen_ms bigint not null,
  -- When it fell silent last, how often in a row it did, and how many beats came since.
  suspected_at_ms bigint,
  flaps integer not null default 0,
  steady integer not null default 0,
  public_key text,
  vote_key text,
  -- Public keys (JWK) that its agent card must be signed with; null: none are pinned.
  card_keys jsonb,
  -- {name, version?, isVerified}; null when it registered without a card.
  card jsonb
) with (fillfactor = 70);

-- Proofs that a key is held, by whom they were sent: a captured one is of no use to anybody else.
create table mesh.key_proofs (
  commitment text primary key,
  owner_id text not null
);
