import type { Database } from '../../kit/database/database.ts';
import { isUniqueViolation } from '../../kit/database/sql-errors.ts';
import { Fault } from '../../kit/errors.ts';
import type { Definition, VirtualServer } from './virtual-server.ts';

export type VirtualServerSql = Pick<Database, 'query'>;

interface VirtualServerRow {
  readonly id: string;
  readonly name: string;
  readonly definition: Definition;
  readonly created_by: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

/** All of them, the oldest first. */
export async function readVirtualServers(sql: VirtualServerSql): Promise<VirtualServer[]> {
  const rows = await sql.query<VirtualServerRow>(
    `select id, name, definition, created_by, created_at_ms, updated_at_ms
     from registry.virtual_servers order by id`,
  );
  return rows.map((row) => ({
    ...row.definition,
    id: row.id,
    name: row.name,
    createdBy: row.created_by,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }));
}

/** What tells one version of a virtual server from the next, of each. */
export function readVersions(
  sql: VirtualServerSql,
): Promise<readonly { readonly id: string; readonly updatedAtMs: number }[]> {
  return sql.query('select v.id, v.updated_at_ms as "updatedAtMs" from registry.virtual_servers v');
}

/** Adds it unless there are `most`, which answers false; Fault `name_taken`. */
export async function insertVirtualServer(
  sql: VirtualServerSql,
  server: VirtualServer,
  most: number,
): Promise<boolean> {
  const { id, name, createdBy, createdAtMs, updatedAtMs } = server;
  const rows = await refuseTaken(name, () =>
    sql.query(
      `insert into registry.virtual_servers
         (id, name, definition, created_by, created_at_ms, updated_at_ms)
       select $1, $2, $3::jsonb, $4, $5::bigint, $6::bigint
       where (select count(*) from registry.virtual_servers) < $7::integer
       returning id`,
      [id, name, definitionOf(server), createdBy, createdAtMs, updatedAtMs, most],
    ),
  );
  return rows.length > 0;
}

/** False when there is none of that id; Fault `name_taken`. */
export async function updateVirtualServer(
  sql: VirtualServerSql,
  server: VirtualServer,
): Promise<boolean> {
  const { id, name, updatedAtMs } = server;
  const rows = await refuseTaken(name, () =>
    sql.query(
      `update registry.virtual_servers set name = $2, definition = $3::jsonb,
         updated_at_ms = $4::bigint
       where id = $1 returning id`,
      [id, name, definitionOf(server), updatedAtMs],
    ),
  );
  return rows.length > 0;
}

/** False when there is none of that id. */
export async function deleteVirtualServer(sql: VirtualServerSql, id: string): Promise<boolean> {
  const rows = await sql.query('delete from registry.virtual_servers where id = $1 returning id', [
    id,
  ]);
  return rows.length > 0;
}

async function refuseTaken<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error, 'virtual_server_name_unique')) throw error;
    throw new Fault('conflict', 'another virtual server has this name', {
      reason: 'name_taken',
      detail: { name },
    });
  }
}

function definitionOf(server: VirtualServer): Definition {
  const { description, tools, prompts, resources, isLean } = server;
  return { description, tools, prompts, resources, isLean };
}
