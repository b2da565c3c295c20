-- Since when a workflow is active under its name: of several with one name as a tool the first keeps it.
alter table workflow.workflows add column named_at timestamptz;
update workflow.workflows set named_at = created_at;
alter table workflow.workflows alter column named_at set not null;

create index workflows_active on workflow.workflows (id) where status = 'active';
