-- Which process has an open trace in its memory, and which processes there are: what one that is gone
-- has left open, another takes over.
create table tracer.process (
  id uuid primary key,
  seen_at timestamptz not null default clock_timestamp()
);
alter table tracer.open_trace add column holder uuid;
