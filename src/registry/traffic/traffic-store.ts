import type { Database } from '../../kit/database/database.ts';

export type TrafficSql = Pick<Database, 'query'>;

/** What came to pass since it was last written. */
export interface TrafficDelta {
  readonly connectionId: string;
  /** '' is everything of the connection. */
  readonly capability: string;
  readonly requests: number;
  readonly failures: number;
  readonly inconclusive: number;
  readonly latencyMs: number;
  /** By bucket; empty for a capability. */
  readonly latencies: readonly number[];
}

/** The sums over all replicas, as the table has them. */
export interface TrafficRow extends TrafficDelta {
  /** Grows with every change of the row. */
  readonly revision: number;
}

const columns = `t.connection_id as "connectionId", t.capability, t.requests, t.failures,
  t.inconclusive,  t.latency_ms as "latencyMs", t.latencies, t.revision`;

/** Adds to different rows in one statement and answers the sums. */
export function addTraffic(
  sql: TrafficSql,
  deltas: readonly TrafficDelta[],
): Promise<TrafficRow[]> {
  return sql.query<TrafficRow>(
    `insert into registry.traffic as t
       (connection_id, capability, requests, failures, inconclusive, latency_ms, latencies)
     select n."connectionId", n.capability, n.requests, n.failures, n.inconclusive,
       n."latencyMs", n.latencies
     from json_to_recordset($1::json) as n ("connectionId" text, capability text, requests bigint,
       failures bigint, inconclusive bigint, "latencyMs" double precision, latencies bigint[])
     order by n."connectionId", n.capability
     on conflict (connection_id, capability) do update set
       requests = t.requests + excluded.requests, failures = t.failures + excluded.failures,
       inconclusive = t.inconclusive + excluded.inconclusive,
       latency_ms = t.latency_ms + excluded.latency_ms, revision = t.revision + 1,
       latencies = array(
         select coalesce(u.known, 0) + coalesce(u.added, 0)
         from unnest(t.latencies, excluded.latencies) with ordinality as u (known, added, at)
         order by u.at)
     returning ${columns}`,
    [JSON.stringify(deltas)],
  );
}

/** The next thousand rows behind one. */
export function readTraffic(
  sql: TrafficSql,
  after: Pick<TrafficRow, 'connectionId' | 'capability'>,
): Promise<TrafficRow[]> {
  return sql.query<TrafficRow>(
    `select ${columns} from registry.traffic t where (t.connection_id, t.capability) > ($1, $2)
     order by t.connection_id, t.capability limit 1000`,
    [after.connectionId, after.capability],
  );
}
