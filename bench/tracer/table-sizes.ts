import { openDatabase, type OpenOptions } from '../../src/kit/database/database.ts';

/** Bytes of the tracer's tables with all that belongs to them, by table, the partitions added up. */
export async function readTableSizes(where: OpenOptions): Promise<ReadonlyMap<string, number>> {
  await using database = await openDatabase(where);
  const rows = await database.query<{ name: string; bytes: number }>(
    `select coalesce(parent.relname, c.relname) as name,
       sum(pg_total_relation_size(c.oid))::bigint as bytes
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     left join pg_inherits i on i.inhrelid = c.oid
     left join pg_class parent on parent.oid = i.inhparent
     where n.nspname = 'tracer' and c.relkind = 'r'
     group by 1 order by 2 desc`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}
