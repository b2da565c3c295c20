-- Spans as they came: bodies of OTLP's ExportTraceServiceRequest, compressed with Brotli, of many traces each.
-- The number of a chunk begins with the day on which it came: day * 2^36 + sequence.
create sequence tracer.chunk_number;

create table tracer.chunk (
  id bigint primary key,
  body bytea not null
) partition by range (id);
alter table tracer.chunk alter column body set storage external;

-- Traces to which spans may still come, by the spans that came since they were last complete.
create table tracer.open_trace (
  trace_id uuid primary key,
  day integer not null,
  received_at bigint not null,
  start_us bigint not null,
  end_us bigint not null,
  name text not null,
  service text not null,
  agent text not null,
  agents text[] not null,
  -- Hashes of its agents, services and operations, by which it is found.
  terms integer[] not null,
  status smallint not null,
  span_count integer not null,
  error_count integer not null,
  -- The root's attributes, deflated.
  tags bytea,
  is_partial boolean not null,
  -- Of a failed trace: code, message, spanId and agent, as JSON.
  error text,
  chunks bigint[] not null,
  -- How often it was written.
  revision integer not null default 1
) with (
  fillfactor = 70,
  -- Rows come and go within seconds.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000
);

-- Complete traces, each in the partition of the day on which its first span came.
create table tracer.trace (
  trace_id uuid not null,
  day integer not null,
  start_us bigint not null,
  end_us bigint not null,
  received_at bigint not null,
  network_us bigint not null,
  processing_us bigint not null,
  input_tokens bigint,
  output_tokens bigint,
  cost_usd double precision,
  span_count integer not null,
  error_count integer not null,
  bottlenecks integer not null,
  -- How often it was found complete.
  completions integer not null,
  status smallint not null,
  is_partial boolean not null,
  name text not null,
  service text not null,
  agent text not null,
  agents text[] not null,
  terms integer[] not null,
  error text,
  tags bytea,
  chunks bigint[] not null,
  primary key (trace_id, day)
) partition by range (day);

create index trace_start on tracer.trace (start_us desc);
create index trace_terms on tracer.trace using gin (terms);
create index trace_failed on tracer.trace (start_us desc) where status > 0;

-- How much is stored, by the day of the traces' rows; counting them would read them all.
create table tracer.day_total (
  day integer primary key,
  traces bigint not null,
  spans bigint not null
);
