-- API keys of programs that wait to be told who they are. They are of no agent yet; whoever finds one
-- whose time is over revokes it.
create table studio.spare_keys (
  key_id text primary key,
  -- the process whose program has it
  replica text not null,
  -- prolonged for as long as that process lives
  valid_until timestamptz not null
);
