-- What was added to the series and does not lie in blocks yet: one row of each completion, packed (see
-- series/cell-log.ts). It is inserted with the traces that it counts, and moves to the blocks later.
create table tracer.cell_log (
  id bigint generated always as identity primary key,
  body bytea not null
) with (
  -- Rows come and go within seconds.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100
);
alter table tracer.cell_log alter column body set storage external;

-- The cells of all series of a kind that begin at a minute since the epoch, packed (see
-- series/cell-block.ts); kinds are numbered as in series/series.ts. The parts of a block add up.
create sequence tracer.block_part;
create table tracer.block_minute (
  kind smallint not null,
  bucket integer not null,
  part bigint not null default nextval('tracer.block_part'),
  body bytea not null,
  primary key (kind, bucket, part)
) partition by range (bucket);
alter table tracer.block_minute alter column body set storage external;
create table tracer.block_hour (like tracer.block_minute including all) partition by range (bucket);
create table tracer.block_day (like tracer.block_minute including all) partition by range (bucket);

-- What lies in rows of single cells moves to blocks of the form 0, whose numbers have fixed widths.
do $$
declare
  level record;
  old record;
  moved text := $sql$
    insert into tracer.block_%1$s (kind, bucket, body)
    select k.number, c.bucket, '\x00'::bytea || string_agg(
      int8send(c.series_id) || int8send(c.count) || int8send(c.errors) || float8send(c.sum)
        || int4send(cardinality(c.bins))
        || coalesce((
          select string_agg(int2send(u.bin) || int4send(u.n), ''::bytea)
          from unnest(c.bins, c.bin_counts) as u (bin, n)), ''::bytea),
      ''::bytea order by c.series_id)
    from tracer.cell_%1$s c
    join tracer.series s on s.id = c.series_id
    join (values ('traceName', 0), ('traceAgent', 1), ('traceStatus', 2), ('operation', 3), ('self', 4),
      ('edge', 5), ('service', 6), ('error', 7), ('inputTokens', 8), ('outputTokens', 9), ('cost', 10)
    ) as k (kind, number) on k.kind = s.kind
    group by 1, 2$sql$;
begin
  for level in select * from (values ('minute', 1), ('hour', 5), ('day', 30)) as l (name, days) loop
    for old in
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = format('tracer.cell_%s', level.name)::regclass
    loop
      perform tracer.open_partitions('block_' || level.name,
        array[replace(old.name, 'cell_', 'block_')],
        array[substring(old.name from '\d+$')::bigint * 1440], level.days * 1440::bigint, '');
    end loop;
    execute format(moved, level.name);
    execute format('drop table tracer.cell_%s', level.name);
  end loop;
end $$;
drop function tracer.merge_bins;
