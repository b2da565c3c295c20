create table chat.conversations (
  id text primary key,
  owner_id text not null,
  title text not null,
  model text,
  -- JSON: which tools its turns may use
  tools text,
  branched_from_conversation text,
  branched_from_message text,
  message_count integer not null default 0,
  total_tokens bigint not null default 0,
  -- US dollars
  cost double precision not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index conversations_of_owner on chat.conversations (owner_id, updated_at desc, id desc);

create table chat.messages (
  conversation_id text not null references chat.conversations (id) on delete cascade,
  -- from 1, without gaps
  place integer not null,
  id text not null unique,
  -- the conversation's, so that a search needs no join
  owner_id text not null,
  role text not null,
  content text not null,
  -- JSON: content parts, where there is more than a text
  parts text,
  -- complete, pending, stopped, interrupted
  status text not null,
  turn_id text,
  model text,
  -- JSON
  usage text,
  -- JSON
  tool_calls text,
  tool_call_id text,
  created_at timestamptz not null,
  primary key (conversation_id, place)
);

create index messages_of_owner on chat.messages (owner_id, created_at);
