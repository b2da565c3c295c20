-- What went through connections since they were registered, added to by every replica.
create table registry.traffic (
  connection_id text not null,
  -- The tool, prompt or resource; '' is everything of the connection.
  capability text not null,
  requests bigint not null,
  failures bigint not null,
  -- The sum over all requests, in milliseconds.
  latency_ms double precision not null,
  -- How many requests lay in each bucket of latency, up to the last that holds any; of a connection
  -- only, not of its capabilities.
  latencies bigint[] not null,
  -- Grows with every change.
  revision bigint not null default 1,
  primary key (connection_id, capability)
) with (fillfactor = 70);
