-- The identity provider that a user came through; null for those made here.
alter table auth.users add column provider text;

-- Providers that an administrator configured; they stand before those of the environment.
create table auth.oauth_providers (
  name text primary key,
  config jsonb not null,
  -- Sealed with the key file that the text names.
  client_secret text not null,
  updated_at timestamptz not null
);

-- Logins on their way through a provider. The challenge is S256 of the verifier (RFC 7636).
create table auth.oauth_flows (
  challenge text primary key,
  provider text not null,
  redirect_uri text not null,
  state text not null,
  nonce text not null,
  scope text not null,
  client_id text not null,
  -- Only of flows whose verifier the service keeps: sealed, and SHA-256 of the cookie's value.
  verifier text,
  binding bytea,
  return_to text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  -- SHA-256 of the code that was traded, and the session that it gave.
  code_hash bytea,
  session_id text,
  replayed_at timestamptz
);
create index oauth_flows_binding on auth.oauth_flows (binding) where binding is not null;
create index oauth_flows_code on auth.oauth_flows (code_hash) where code_hash is not null;
create index oauth_flows_expiry on auth.oauth_flows (expires_at);

-- Who a user is at a provider, and the provider's own tokens, sealed.
create table auth.identities (
  issuer text not null,
  subject text not null,
  user_id text not null constraint identities_user unique
    references auth.users (id) on delete cascade,
  provider text not null,
  access_token text,
  refresh_token text,
  token_type text not null,
  scope text not null,
  issued_at timestamptz not null,
  -- Null when the provider does not say.
  expires_at timestamptz,
  -- One more with each change of the tokens.
  token_version integer not null,
  -- Until then one process alone asks the provider for the next tokens.
  lease_until timestamptz,
  primary key (issuer, subject)
);
