-- Workflows and their versions. Flows and tests are JSON texts: nothing looks into them.

create table workflow.workflows (
  id text primary key,
  name text not null,
  description text not null,
  category text not null,
  tags text[] not null,
  status text not null check (status in ('draft', 'active', 'archived')),
  owner_id text not null,
  -- The version that new executions run; none while nothing was published.
  version integer,
  -- The newest version, published or a draft.
  latest integer not null,
  -- Counts changes, so that two editors do not overwrite one another.
  revision integer not null default 1,
  -- Signs callbacks; sealed.
  secret text not null,
  template_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index workflows_by_owner on workflow.workflows (owner_id, id);

create index workflows_by_category on workflow.workflows (category, id);

-- A version without `published_at` is a draft and may change; a published one never does.
create table workflow.versions (
  workflow_id text not null references workflow.workflows (id),
  version integer not null,
  flow text not null,
  components integer not null,
  complexity text not null,
  typical_ms integer not null,
  created_by text not null,
  created_at timestamptz not null,
  published_at timestamptz,
  primary key (workflow_id, version)
);

create table workflow.flow_tests (
  workflow_id text primary key references workflow.workflows (id),
  tests text not null,
  updated_at timestamptz not null
);

create table workflow.template_uses (
  template_id text primary key,
  count integer not null
);
