-- What those who speak are in the middle of; forgotten half an hour after the last command.
create table chat.voice_sessions (
  owner_id text not null,
  id text not null,
  conversation_id text,
  orchestration_id text,
  -- JSON: what the next words may be the yes to
  pending text,
  used_at timestamptz not null,
  primary key (owner_id, id)
);

create index voice_sessions_used on chat.voice_sessions (used_at);
