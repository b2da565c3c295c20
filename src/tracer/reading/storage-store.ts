import type { Database } from '../../kit/database/database.ts';

/** What the tracer keeps now. */
export interface StorageFigures {
  readonly traces: number;
  readonly spans: number;
  /** Bytes on disk of all its tables, their indexes included. */
  readonly bytes: number;
  /** Connections to the database. */
  readonly connections: number;
}

/** Counts what is stored. */
export async function readStorage(database: Database): Promise<StorageFigures> {
  const [row] = await database.query<StorageFigures>(
    `select
       (select count(*) from tracer.trace) + (select count(*) from tracer.open_trace o
         where not exists (select from tracer.trace t where t.trace_id = o.trace_id)) as traces,
       (select coalesce(sum(span_count), 0)::bigint from tracer.trace)
         + (select coalesce(sum(span_count), 0)::bigint from tracer.open_trace o
         where not exists (select from tracer.trace t where t.trace_id = o.trace_id)) as spans,
       (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'tracer' and c.relkind = 'r') as bytes,
       (select count(*) from pg_stat_activity where datname = current_database()) as connections`,
  );
  return row ?? { traces: 0, spans: 0, bytes: 0, connections: 0 };
}
