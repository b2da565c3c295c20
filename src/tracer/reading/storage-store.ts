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

/** Says what is stored of this day and later ones. */
export async function readStorage(database: Database, oldestDay: number): Promise<StorageFigures> {
  const [row] = await database.query<StorageFigures>(
    `select
       t.traces + o.traces as traces, t.spans + o.spans as spans,
       (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'tracer' and c.relkind = 'r') as bytes,
       (select count(*) from pg_stat_activity where datname = current_database()) as connections
     from
       (select coalesce(sum(traces), 0)::bigint as traces, coalesce(sum(spans), 0)::bigint as spans
         from tracer.day_total where day >= $1) as t,
       (select count(*) as traces, coalesce(sum(span_count), 0)::bigint as spans
         from tracer.open_trace o
         where not exists (select from tracer.trace c where c.trace_id = o.trace_id)) as o`,
    [oldestDay],
  );
  return row ?? { traces: 0, spans: 0, bytes: 0, connections: 0 };
}
