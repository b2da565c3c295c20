-- What is counted over time. The number is a hash of kind and labels, so replicas agree on it.
create table tracer.series (
  id bigint primary key,
  kind text not null,
  labels text[] not null
);
create index series_kind on tracer.series (kind, labels);

-- What was added to a series within one cell of time; `bucket` is the minute since the epoch at which
-- it begins. Of durations also a histogram: bins (see histogram.ts) and how many lie in each; a bin
-- may stand there more than once, and its counts add up.
create table tracer.cell_minute (
  series_id bigint not null,
  bucket integer not null,
  count bigint not null,
  errors bigint not null,
  sum double precision not null,
  bins smallint[] not null,
  bin_counts integer[] not null,
  primary key (series_id, bucket)
) partition by range (bucket);

create table tracer.cell_hour (like tracer.cell_minute including all) partition by range (bucket);
create table tracer.cell_day (like tracer.cell_minute including all) partition by range (bucket);

-- The failed traces of thirty days; `at` is in milliseconds since the epoch.
create table tracer.error_log (
  at bigint not null,
  trace_id uuid not null,
  span_id text not null,
  code text not null,
  message text not null,
  agent text not null,
  name text not null,
  service text not null,
  primary key (trace_id, at)
) partition by range (at);
create index error_log_at on tracer.error_log (at desc);

-- Adds two histograms up. Putting one behind the other does, and is far cheaper than bringing the bins
-- together, which is done when they have become many.
create function tracer.merge_bins(
  bins smallint[], counts integer[], more smallint[], more_counts integer[],
  out merged smallint[], out merged_counts integer[]
) language plpgsql immutable as $$
begin
  merged := bins || more;
  merged_counts := counts || more_counts;
  if cardinality(merged) <= 320 or cardinality(bins) = 0 then return; end if;
  -- A bin that is fuller than an integer says so by as much as an integer can hold.
  select coalesce(array_agg(s.bin), '{}'),
    coalesce(array_agg(greatest(least(s.count, 2147483647), -2147483648)::integer), '{}')
  into merged, merged_counts
  from (
    select u.bin, sum(u.count) as count from unnest(merged, merged_counts) as u (bin, count)
    group by u.bin having sum(u.count) <> 0) as s;
end $$;

-- Creates the partitions of a table that begin at `lows` and are `width` wide, but for those that are
-- there. One replica after the other, for creating something twice at once is an error.
create function tracer.open_partitions(
  parent text, names text[], lows bigint[], width bigint, options text
) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('tracer.partitions', 0));
  for at in 1..cardinality(names) loop
    execute format('create table if not exists tracer.%I partition of tracer.%I for values from (%s) to (%s) %s',
      names[at], parent, lows[at], lows[at] + width, options);
  end loop;
end $$;

-- Drops partitions with everything in them, but for those that are gone.
create function tracer.drop_partitions(names text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('tracer.partitions', 0));
  for at in 1..cardinality(names) loop
    execute format('drop table if exists tracer.%I', names[at]);
  end loop;
end $$;
