import { partitionName, type PartitionedTable } from './partitions.ts';
import type { SeriesSql } from './tables.ts';

/** The names of all partitions, by their table. */
export async function listPartitions(
  sql: SeriesSql,
  tables: readonly PartitionedTable[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const names = tables.map(({ table }) => table);
  const rows = await sql.query<{ parent: string; name: string }>(
    `select p.relname as parent, c.relname as name
     from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = i.inhrelid
     where p.relnamespace = 'tracer'::regnamespace and p.relkind = 'p' and p.relname = any($1)`,
    [names],
  );
  const known = new Map(names.map((name) => [name, new Set<string>()]));
  for (const { parent, name } of rows) known.get(parent)?.add(name);
  return known;
}

/** Creates those partitions that are not there; replicas may do so at once. */
export async function openPartitions(
  sql: SeriesSql,
  table: PartitionedTable,
  firstDays: readonly number[],
): Promise<void> {
  const { perDay, widthDays, options } = table;
  await sql.query('select tracer.open_partitions($1, $2::text[], $3::bigint[], $4, $5)', [
    table.table,
    firstDays.map((day) => partitionName(table, day)),
    firstDays.map((day) => day * perDay),
    widthDays * perDay,
    options,
  ]);
}

/** Drops partitions with all that is in them; replicas may do so at once. */
export async function dropPartitions(sql: SeriesSql, names: readonly string[]): Promise<void> {
  await sql.query('select tracer.drop_partitions($1::text[])', [names]);
}
