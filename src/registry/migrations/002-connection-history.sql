create table registry.connection_history (
  entry_id bigint generated always as identity primary key,
  connection_id text not null,
  at_ms bigint not null,
  -- registered, status, health, updated, endpoint, tools, approved, disconnected
  change text not null,
  -- The subject who asked for it; null: the registry itself.
  changed_by text,
  reason text,
  -- What it was before and is now; names of what else changed.
  before text,
  after text,
  detail json
);

create index connection_history_by_connection
  on registry.connection_history (connection_id, entry_id);
create index connection_history_by_time on registry.connection_history (at_ms);
