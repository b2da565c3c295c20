-- The last epochs of agents that are gone: whoever registers the id next begins after them, so that what
-- an earlier holder of the id sends is known as such. Forgotten after a week.
create table mesh.former_epochs (
  agent_id text primary key,
  epoch integer not null,
  -- Milliseconds since the epoch of Unix.
  ended_at_ms bigint not null
);
