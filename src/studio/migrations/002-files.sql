-- One row a workspace that has files: the end of its log, and what its files take.
create table studio.file_logs (
  workspace_id text primary key references studio.workspaces (id) on delete cascade,
  last_seq bigint not null default 0,
  used_bytes bigint not null default 0,
  -- Changes up to this one are no longer kept.
  forgotten_seq bigint not null default 0
);

-- What each path holds now.
create table studio.files (
  workspace_id text not null references studio.workspaces (id) on delete cascade,
  path text not null,
  -- the path in lower case: no two files may differ by case alone
  folded text collate "C" not null,
  hash text not null,
  size bigint not null,
  is_executable boolean not null,
  seq bigint not null,
  modified_at timestamptz not null,
  -- false from the commit until the folder holds it
  is_on_disk boolean not null,
  primary key (workspace_id, path)
);

create unique index files_by_folded on studio.files (workspace_id, folded);
create index files_by_hash on studio.files (hash);
create index files_not_on_disk on studio.files (workspace_id) where not is_on_disk;

create table studio.file_changes (
  workspace_id text not null references studio.workspaces (id) on delete cascade,
  seq bigint not null,
  device_id text not null,
  op_id text,
  path text not null,
  operation text not null check (operation in ('create', 'update', 'delete')),
  base_hash text,
  hash text,
  size bigint not null,
  is_executable boolean not null,
  conflict_of text,
  at timestamptz not null,
  primary key (workspace_id, seq)
);

create unique index file_changes_by_op on studio.file_changes (workspace_id, op_id)
  where op_id is not null;
create index file_changes_by_path on studio.file_changes (workspace_id, path, seq);
create index file_changes_by_hash on studio.file_changes (hash);
