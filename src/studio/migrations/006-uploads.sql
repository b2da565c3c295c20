-- Contents that were sent to a workspace and that no file of it is yet.
create table studio.uploads (
  workspace_id text not null references studio.workspaces (id) on delete cascade,
  hash text not null,
  size bigint not null,
  at timestamptz not null,
  primary key (workspace_id, hash)
);

create index uploads_by_hash on studio.uploads (hash);
create index uploads_by_at on studio.uploads (at);
