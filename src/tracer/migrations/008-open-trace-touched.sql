-- When spans of it were last stored: another replica takes up what nobody adds to any more.
alter table tracer.open_trace add column touched_at timestamptz not null default clock_timestamp();
