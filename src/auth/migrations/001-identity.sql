create table auth.users (
  id text primary key,
  username text not null,
  username_key text not null constraint users_username_key unique,
  email text not null,
  name text not null,
  password_hash text,
  roles text[] not null,
  disabled boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_login_at timestamptz
);

-- The family of all refresh tokens that descend from one login.
create table auth.sessions (
  id text primary key,
  user_id text not null references auth.users (id) on delete cascade,
  client_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index sessions_user on auth.sessions (user_id);
create index sessions_expiry on auth.sessions (expires_at);

create table auth.refresh_tokens (
  hash bytea primary key,
  session_id text not null references auth.sessions (id) on delete cascade,
  generation integer not null,
  issued_at timestamptz not null,
  consumed_at timestamptz,
  -- The token that replaced this one, sealed with a key that only this token yields.
  successor bytea,
  constraint refresh_tokens_generation unique (session_id, generation)
);
create index refresh_tokens_consumption on auth.refresh_tokens (consumed_at);

create table auth.api_keys (
  id text primary key,
  name text not null,
  service text not null,
  kind text not null check (kind in ('user', 'service')),
  owner_id text not null,
  permissions text[] not null,
  hash bytea not null,
  previous_hash bytea,
  previous_expires_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_owner on auth.api_keys (owner_id);

create table auth.signing_keys (
  kid text primary key,
  state text not null check (state in ('pending', 'active', 'previous', 'retired')),
  public_jwk jsonb not null,
  -- PKCS #8, sealed with the key file that the text names.
  private_key text not null,
  created_at timestamptz not null,
  state_changed_at timestamptz not null
);
create unique index signing_keys_active on auth.signing_keys (state) where state = 'active';

-- Times are Unix seconds, as tokens have them.
create table auth.revocations (
  seq bigserial primary key,
  kind text not null check (kind in ('token', 'session', 'subject', 'key')),
  id text not null,
  revoked_at bigint not null,
  expires_at bigint not null
);
create index revocations_expiry on auth.revocations (expires_at);

create table auth.audit (
  seq bigserial primary key,
  event_type text not null,
  user_id text not null,
  occurred_at timestamptz not null,
  ip text not null,
  user_agent text not null,
  client_id text not null,
  metadata jsonb not null
);
create index audit_user on auth.audit (user_id, seq);
create index audit_type on auth.audit (event_type, seq);
create index audit_time on auth.audit (occurred_at);

-- What membership of a group gives: a role, and the permissions that the role then carries.
create table auth.group_mappings (
  idp_group text primary key,
  platform_role text not null,
  permissions text[] not null
);
insert into auth.group_mappings (idp_group, platform_role, permissions) values
  ('administrators', 'admin', '{*}'),
  ('developers', 'developer', '{agent:execute,workflow:create,mesh:communicate}'),
  ('users', 'user', '{agent:read,workflow:read}');
