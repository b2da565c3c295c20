-- A session's refresh tokens become part of its row: one is good, and the one before it is still
-- answered for a moment. A rotation then touches one row and no index.
alter table auth.sessions
  -- 0 for the login's token, one more with each rotation.
  add column generation integer not null default 0,
  -- SHA-256 of the token that is good.
  add column token_hash bytea not null default '',
  add column token_issued_at timestamptz not null default now(),
  -- SHA-256 of the token before it.
  add column previous_hash bytea,
  -- The good token, sealed with a key that only the one before it yields.
  add column sealed_token bytea,
  -- When the bucket of the session's refreshes is full again.
  add column refreshes_full_at timestamptz not null default now();

update auth.sessions s
set generation = t.generation, token_hash = t.hash, token_issued_at = t.issued_at
from auth.refresh_tokens t where t.session_id = s.id and t.consumed_at is null;

update auth.sessions s
set previous_hash = t.hash, sealed_token = t.successor
from auth.refresh_tokens t where t.session_id = s.id and t.generation = s.generation - 1;

alter table auth.sessions
  alter column generation drop default,
  alter column token_hash drop default,
  alter column token_issued_at drop default,
  set (fillfactor = 50);

drop table auth.refresh_tokens;
delete from auth.allowances where key like 'refresh %';
