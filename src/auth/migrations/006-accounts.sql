-- The second factor of a user: a time-based code (RFC 6238) and codes for when the device is lost.
create table auth.second_factors (
  user_id text primary key references auth.users (id) on delete cascade,
  -- Sealed with the key file that the text names.
  secret text not null,
  created_at timestamptz not null,
  -- Null until the user has shown a first code.
  enabled_at timestamptz,
  -- The newest time step whose code was accepted; no code counts twice.
  last_step bigint not null default 0,
  -- Wrong codes of the window that began at attempts_since.
  attempts integer not null default 0,
  attempts_since timestamptz not null
);

create table auth.recovery_codes (
  user_id text not null references auth.second_factors (user_id) on delete cascade,
  hash bytea not null,
  primary key (user_id, hash)
);
