-- What waits to be sorted into the index is read by every search and written by whoever makes it too
-- long, so it stays short (in kilobytes).
drop index tracer.trace_terms;
create index trace_terms on tracer.trace using gin (terms) with (gin_pending_list_limit = 512);
