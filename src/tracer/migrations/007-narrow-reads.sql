-- How many traces failed is read from the index alone, with all that says whether they are shown.
drop index tracer.trace_failed;
create index trace_failed on tracer.trace (start_us desc)
  include (status, day, received_at, trace_id) where status > 0;
-- Its few rows are wide, so the space of those that are gone is much before they are many.
alter table tracer.cell_log set (
  autovacuum_vacuum_threshold = 8,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 200
);
