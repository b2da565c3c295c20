-- A device that follows a workspace, and how far it has come.
create table studio.devices (
  workspace_id text not null references studio.workspaces (id) on delete cascade,
  device_id text not null,
  user_id text not null,
  last_seq bigint not null,
  seen_at timestamptz not null,
  primary key (workspace_id, device_id)
);
