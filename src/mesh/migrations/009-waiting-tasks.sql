-- A task that waits for its turn at an agent belongs to the process that holds it; when that one dies,
-- another asks the agent. Once an agent was asked, nobody asks again.
alter table mesh.tasks add column capability text;
alter table mesh.tasks add column held_by text;
alter table mesh.tasks add column begun_at timestamptz;

create index tasks_waiting on mesh.tasks (lease_until)
  where held_by is not null and begun_at is null and finished_at is null and not is_inbox;
