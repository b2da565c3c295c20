-- Nodes in the order of their start, so that a page of them is found without reading what stands in `body`.
alter table workflow.node_runs add column place integer not null default 0;

update workflow.node_runs set place = (body::json->>'place')::integer;

-- `open` is a Loop or a Parallel with a timeout that has begun: its row keeps when it has to be over.
alter table workflow.node_runs drop constraint node_runs_status_check;

alter table workflow.node_runs add constraint node_runs_status_check check (status in
  ('waiting', 'signalled', 'open', 'completed', 'failed', 'continued', 'skipped', 'cancelled'));
