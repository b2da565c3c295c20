import type { SwarmStatus } from './swarm.ts';
import type { SwarmSql } from './swarm-store.ts';

/** A swarm as a list shows it. */
export interface SwarmSummary {
  readonly swarmId: string;
  readonly name: string;
  readonly status: SwarmStatus;
  readonly agents: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface SwarmPage {
  readonly status?: SwarmStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface SummaryRow {
  readonly id: string;
  readonly name: string;
  readonly status: SwarmStatus;
  readonly agents: string[];
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** One page, the newest first, and how many there are. */
export async function listSwarms(
  sql: SwarmSql,
  { status, limit, offset }: SwarmPage,
): Promise<{ readonly swarms: SwarmSummary[]; readonly total: number }> {
  const filter = '($1::text is null or status = $1)';
  const [rows, [all]] = await Promise.all([
    sql.query<SummaryRow>(
      `select id, name, status, created_at, expires_at,
         array(select agent_id from mesh.swarm_members where swarm_id = s.id order by place)
           as agents
       from mesh.swarms s where ${filter} order by id desc limit $2 offset $3`,
      [status, limit, offset],
    ),
    sql.query<{ total: number }>(`select count(*) as total from mesh.swarms where ${filter}`, [
      status,
    ]),
  ]);
  return { swarms: rows.map(toSummary), total: all?.total ?? 0 };
}

/** Those whose time is over count until somebody has ended them. */
export async function countActive(sql: SwarmSql): Promise<number> {
  const [row] = await sql.query<{ total: number }>(
    "select count(*) as total from mesh.swarms where status = 'active'",
  );
  return row?.total ?? 0;
}

/** The active swarms whose time is over, the longest first; at most a hundred. */
export async function listDue(sql: SwarmSql, now: Date): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from mesh.swarms where status = 'active' and expires_at <= $1::timestamptz
     order by expires_at limit 100`,
    [now],
  );
  return rows.map(({ id }) => id);
}

/** Which of these swarms have ended. */
export async function listEnded(
  sql: SwarmSql,
  swarmIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    "select id from mesh.swarms where id = any($1::text[]) and status <> 'active'",
    [swarmIds],
  );
  return rows.map(({ id }) => id);
}

/** Deletes swarms that ended before, with their votes; at most a thousand. */
export async function deleteEndedBefore(sql: SwarmSql, before: Date): Promise<void> {
  await sql.query(
    `delete from mesh.swarms where id in (
       select id from mesh.swarms where ended_at < $1::timestamptz order by ended_at limit 1000)`,
    [before],
  );
}

/** When the next active swarm's time is over. */
export async function nextDeadline(sql: SwarmSql): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>(
    "select min(expires_at) as at from mesh.swarms where status = 'active'",
  );
  return row?.at ?? undefined;
}

/** Active swarms after an id, in the order of their ids; at most a hundred. */
export async function listActive(sql: SwarmSql, after: string): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    "select id from mesh.swarms where status = 'active' and id > $1 order by id limit 100",
    [after],
  );
  return rows.map(({ id }) => id);
}

function toSummary({ id, created_at, expires_at, ...summary }: SummaryRow): SwarmSummary {
  return { ...summary, swarmId: id, createdAt: created_at, expiresAt: expires_at };
}
