-- Providers that were put over the API; they stand before those of the file and the environment.
create table gateway.providers (
  name text primary key,
  -- As it was put, less what is secret.
  settings jsonb not null,
  -- Keys and header values as JSON, sealed with the key file that the text names; null for none.
  secrets text,
  updated_at timestamptz not null
);
