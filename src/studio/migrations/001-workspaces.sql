create table studio.workspaces (
  id text primary key,
  name text not null,
  description text,
  owner_id text not null,
  path text not null,
  -- JSON
  settings text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- its folder and all that belongs to it are being deleted
  is_leaving boolean not null default false
);

-- The owner is among them.
create table studio.members (
  workspace_id text not null references studio.workspaces (id) on delete cascade,
  user_id text not null,
  role text not null check (role in ('Admin', 'Developer', 'Reviewer', 'Viewer', 'Guest')),
  primary key (workspace_id, user_id)
);

create index members_by_user on studio.members (user_id);
