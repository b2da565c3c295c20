import type { LogLine } from './agent.ts';
import type { AgentSql } from './agent-store.ts';

/** A line and whose it is. */
export interface StoredLine extends LogLine {
  readonly agentId: string;
}

interface LineRow {
  readonly seq: number;
  readonly at: Date;
  readonly stream: LogLine['stream'];
  readonly text: string;
}

/** Lines of agents that are gone meanwhile are dropped. */
export async function insertLines(sql: AgentSql, lines: readonly StoredLine[]): Promise<void> {
  const rows = lines.map(({ agentId, seq, atMs, stream, text }) => ({
    agent_id: agentId,
    seq,
    at: new Date(atMs),
    stream,
    text,
  }));
  await sql.query(
    `insert into studio.agent_logs (agent_id, seq, at, stream, text)
     select l.agent_id, l.seq, l.at, l.stream, l.text
     from json_to_recordset($1::json) as
       l(agent_id text, seq bigint, at timestamptz, stream text, text text)
     where exists (select from studio.agents a where a.id = l.agent_id)
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** Forgets the oldest lines of agents, beyond so many and beyond so many bytes. */
export async function pruneLines(
  sql: AgentSql,
  agentIds: readonly string[],
  { linesMax, bytesMax }: { readonly linesMax: number; readonly bytesMax: number },
): Promise<void> {
  await sql.query(
    `delete from studio.agent_logs d using (
       select agent_id, seq,
         row_number() over (partition by agent_id order by seq desc) as place,
         sum(octet_length(text)) over (partition by agent_id order by seq desc) as bytes
       from studio.agent_logs where agent_id = any($1::text[])) as counted
     where d.agent_id = counted.agent_id and d.seq = counted.seq
       and (counted.place > $2 or counted.bytes > $3)`,
    [agentIds, linesMax, bytesMax],
  );
}

/** The highest number that a line has ever had; 0 when there is none. */
export async function readLastSeq(sql: AgentSql, agentId: string): Promise<number> {
  const [row] = await sql.query<{ readonly last: number }>(
    'select coalesce(max(seq), 0) as last from studio.agent_logs where agent_id = $1',
    [agentId],
  );
  return row?.last ?? 0;
}

/** The lines behind a place; without one, the last ones. By number either way. */
export async function readLines(
  sql: AgentSql,
  agentId: string,
  { after, limit }: { readonly after?: number | undefined; readonly limit: number },
): Promise<LogLine[]> {
  const order = after === undefined ? 'desc' : 'asc';
  const rows = await sql.query<LineRow>(
    `select seq, at, stream, text from studio.agent_logs
     where agent_id = $1 and seq > $2 order by seq ${order} limit $3`,
    [agentId, after ?? 0, limit],
  );
  const lines = rows.map(({ seq, at, stream, text }) => ({
    seq,
    atMs: at.getTime(),
    stream,
    text,
  }));
  return after === undefined ? lines.toReversed() : lines;
}
