-- Named subsets of what all servers offer, each an MCP server of its own.
create table registry.virtual_servers (
  id text primary key,
  name text not null,
  -- {description, tools, prompts, resources, isLean}: read and written as a whole.
  definition jsonb not null,
  created_by text not null,
  -- Milliseconds since the epoch.
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  constraint virtual_server_name_unique unique (name)
);
