-- Answers to identical requests, shared by all replicas.
create table gateway.cache (
  -- SHA-256 in hex of the tenant and all that can change the answer; its first half is shown.
  key text collate "C" primary key,
  tenant text not null,
  namespace text not null,
  -- As the provider's words were answered; not sealed.
  body bytea not null,
  provider text not null,
  model text not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- What the entry counts for in the bound.
  bytes bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz not null default clock_timestamp()
);
create index cache_tenant on gateway.cache (tenant, namespace);
create index cache_expiry on gateway.cache (expires_at);
create index cache_use on gateway.cache (used_at);
-- Not compressed, so that reading is quick and the bound in bytes is the truth.
alter table gateway.cache alter column body set storage external;
