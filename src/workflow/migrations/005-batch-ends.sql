-- A batch that a failed item stopped has completed as any other: its counts say what was left out.
update workflow.batches set status = 'completed' where status = 'failed';
alter table workflow.batches drop constraint batches_status_check;
alter table workflow.batches add constraint batches_status_check
  check (status in ('processing', 'cancelling', 'completed', 'cancelled'));
