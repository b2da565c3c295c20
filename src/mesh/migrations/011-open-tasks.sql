-- What has not ended is looked through every few seconds for tasks whose processes have died.
create index tasks_open_by_deadline on mesh.tasks (deadline_at) where finished_at is null;

create index tasks_open_by_lease on mesh.tasks (lease_until) where finished_at is null and not is_inbox;
