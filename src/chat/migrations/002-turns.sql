create table chat.turns (
  id text primary key,
  owner_id text not null,
  conversation_id text references chat.conversations (id) on delete cascade,
  -- the answer's, of the latest round
  message_id text not null,
  -- running, waiting, completed, stopped, failed, interrupted
  status text not null,
  model text not null,
  -- JSON: what goes to the gateway beside the messages, where the turn may have to go on elsewhere
  request text,
  -- JSON: the calls of tools of the latest round, with what became of them
  calls text,
  -- goes up with each answer to a waiting turn
  version integer not null default 0,
  -- who runs it, and until when others leave it to them
  replica text,
  lease_until timestamptz not null,
  is_stopping boolean not null default false,
  last_seq integer not null default 0,
  created_at timestamptz not null,
  ended_at timestamptz
);

create unique index turns_open_in_conversation on chat.turns (conversation_id)
  where status in ('running', 'waiting');
create index turns_running on chat.turns (lease_until) where status = 'running';
create index turns_ended on chat.turns (ended_at) where ended_at is not null;
create index turns_of_conversation on chat.turns (conversation_id);

create table chat.turn_events (
  turn_id text not null references chat.turns (id) on delete cascade,
  -- of the first event in it
  seq integer not null,
  -- JSON: a list of events, of which pieces of text are joined to runs
  entries text not null,
  primary key (turn_id, seq)
);
