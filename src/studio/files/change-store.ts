import type { FileChange, FileOperation, FileVersion } from './file.ts';
import type { FileSql } from './file-store.ts';

interface ChangeRow {
  readonly workspace_id: string;
  readonly seq: number;
  readonly device_id: string;
  readonly path: string;
  readonly operation: FileOperation;
  readonly base_hash: string | null;
  readonly hash: string | null;
  readonly size: number;
  readonly is_executable: boolean;
  readonly conflict_of: string | null;
  readonly at: Date;
}

const changeColumns = `workspace_id, seq, device_id, path, operation, base_hash, hash, size,
  is_executable, conflict_of, at`;

/** What a device calls a change of its own. */
export interface Operation {
  readonly deviceId: string;
  readonly opId: string;
}

/** The changes that were stored as some operations, by their keys. */
export async function readChangesByOp(
  sql: FileSql,
  workspaceId: string,
  operations: readonly Operation[],
): Promise<Map<string, FileChange>> {
  if (operations.length === 0) return new Map();
  const rows = await sql.query<ChangeRow & { readonly op_id: string }>(
    `select op_id, ${changeColumns} from studio.file_changes
     where workspace_id = $1 and device_id = any ($2::text[]) and op_id = any ($3::text[])`,
    [
      workspaceId,
      [...new Set(operations.map(({ deviceId }) => deviceId))],
      operations.map(({ opId }) => opId),
    ],
  );
  return new Map(
    rows.map((row) => [operationKey({ deviceId: row.device_id, opId: row.op_id }), toChange(row)]),
  );
}

/** Different for different operations: no device id holds a space. */
export function operationKey({ deviceId, opId }: Operation): string {
  return `${deviceId} ${opId}`;
}

/** Oldest first. */
export async function readChanges(
  sql: FileSql,
  workspaceId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<FileChange[]> {
  const rows = await sql.query<ChangeRow>(
    `select ${changeColumns} from studio.file_changes where workspace_id = $1 and seq > $2
     order by seq limit $3`,
    [workspaceId, after, limit],
  );
  return rows.map(toChange);
}

/** Newest first. */
export async function readVersions(
  sql: FileSql,
  workspaceId: string,
  { path, limit, ...of }: { readonly path: string; readonly hash?: string; readonly limit: number },
): Promise<FileVersion[]> {
  const rows = await sql.query<ChangeRow>(
    `select ${changeColumns} from studio.file_changes where workspace_id = $1 and path = $2
       and hash is not null and ($4::text is null or hash = $4) order by seq desc limit $3`,
    [workspaceId, path, limit, of.hash],
  );
  return rows.map(({ seq, hash, size, device_id, at }) => ({
    seq,
    hash: hash ?? '',
    size,
    deviceId: device_id,
    atMs: at.getTime(),
  }));
}

/**
 * Forgets the oldest changes of a workspace beyond so many; answers the contents that nothing names any
 * more.
 */
export async function forgetChanges(
  sql: FileSql,
  workspaceId: string,
  keep: number,
): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    `with bound as (
       select last_seq - $2::bigint as seq from studio.file_logs where workspace_id = $1
     ), gone as (
       delete from studio.file_changes c using bound
       where c.workspace_id = $1 and c.seq <= bound.seq returning c.hash
     ), noted as (
       update studio.file_logs set forgotten_seq = greatest(forgotten_seq, bound.seq)
       from bound where workspace_id = $1 and bound.seq > 0
     )
     select distinct gone.hash from gone, bound where gone.hash is not null
       and not exists (select from studio.files f where f.hash = gone.hash)
       and not exists (select from studio.file_changes c where c.hash = gone.hash
         and not (c.workspace_id = $1 and c.seq <= bound.seq))`,
    [workspaceId, keep],
  );
  return rows.map(({ hash }) => hash);
}

/** Whether any file is, or was, a content. */
export async function isNamed(sql: FileSql, hash: string): Promise<boolean> {
  const [row] = await sql.query<{ named: boolean }>(
    `select exists (select from studio.files where hash = $1)
       or exists (select from studio.file_changes where hash = $1)
       or exists (select from studio.uploads where hash = $1) as named`,
    [hash],
  );
  return row?.named ?? false;
}

/** Of some contents those that no file is or was, and that nobody has sent to become one. */
export async function findUnnamed(sql: FileSql, hashes: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    `select h.hash from unnest($1::text[]) as h (hash)
     where not exists (select from studio.files f where f.hash = h.hash)
       and not exists (select from studio.file_changes c where c.hash = h.hash)
       and not exists (select from studio.uploads u where u.hash = h.hash)`,
    [hashes],
  );
  return rows.map(({ hash }) => hash);
}

/** Forgets all of a workspace; answers the contents that nothing names any more. */
export async function deleteFiles(sql: FileSql, workspaceId: string): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    `with gone as (
       delete from studio.file_changes where workspace_id = $1 returning hash
     ), files as (
       delete from studio.files where workspace_id = $1 returning hash
     ), sent as (
       delete from studio.uploads where workspace_id = $1 returning hash
     ), logs as (
       delete from studio.file_logs where workspace_id = $1
     )
     select g.hash from (select hash from gone union select hash from files
       union select hash from sent) g
     where g.hash is not null
       and not exists (select from studio.file_changes c where c.hash = g.hash
         and c.workspace_id <> $1)
       and not exists (select from studio.files f where f.hash = g.hash and f.workspace_id <> $1)`,
    [workspaceId],
  );
  return rows.map(({ hash }) => hash);
}

function toChange(row: ChangeRow): FileChange {
  return {
    workspaceId: row.workspace_id,
    seq: row.seq,
    deviceId: row.device_id,
    path: row.path,
    operation: row.operation,
    ...(row.base_hash === null ? {} : { baseHash: row.base_hash }),
    ...(row.hash === null ? {} : { hash: row.hash }),
    size: row.size,
    isExecutable: row.is_executable,
    atMs: row.at.getTime(),
    ...(row.conflict_of === null ? {} : { conflictOf: row.conflict_of }),
  };
}
