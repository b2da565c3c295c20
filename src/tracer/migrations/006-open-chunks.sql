-- Chunks that hold spans of open traces whose rows do not name them yet: rows of open traces are written
-- when somebody wants to read them, or after a while. When a process begins, they are made of these chunks.
create table tracer.open_chunk (
  id bigint primary key,
  received_at bigint not null
) with (
  -- Rows come and go within seconds.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500
);
