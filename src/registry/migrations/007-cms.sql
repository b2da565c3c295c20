-- Each comparison with a content-management system that was started.
create table registry.cms_syncs (
  id text primary key,
  -- The system's address without a trailing slash.
  cms text not null,
  -- bidirectional, push or pull
  direction text not null,
  is_dry_run boolean not null,
  started_by text not null,
  -- running, done or failed; failed too when its process went away
  status text not null default 'running',
  -- The answer as JSON text: jsonb would refuse U+0000.
  result text,
  started_at timestamptz not null,
  ended_at timestamptz
);
create unique index cms_syncs_running on registry.cms_syncs (cms) where status = 'running';
create index cms_syncs_order on registry.cms_syncs (started_at desc, id desc);

-- What both sides said of a connection when they were last equal: the base of the comparison.
create table registry.cms_links (
  cms text not null,
  -- The record's id at the system.
  record_id text not null,
  connection_id text not null,
  -- Fields as JSON text: a system may keep them in a form of its own, so each side has its own.
  local_base text not null,
  remote_base text not null,
  -- Which side removed it: registry or cms. Kept, so that a stale listing does not bring it back.
  removed_by text,
  updated_at timestamptz not null,
  primary key (cms, record_id)
);

-- The tag of a listing that was wholly like the bases (RFC 9110 section 8.8.3).
create table registry.cms_tags (
  cms text primary key,
  tag text not null
);
