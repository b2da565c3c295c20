-- What one replica does for all.
create table registry.leases (
  name text primary key,
  holder text not null,
  -- Grows each time that another one takes it.
  fence bigint not null default 1,
  expires_at timestamptz not null
);
