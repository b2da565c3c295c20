import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import type { FileRecord } from './file.ts';
import { foldersOf, foldPath } from './paths.ts';

export type FileSql = Pick<Database, 'query'>;

interface FileRow {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly is_executable: boolean;
  readonly seq: number;
  readonly modified_at: Date;
}

const fileColumns = 'path, hash, size, is_executable, seq, modified_at';
/** The end of a workspace's log: whoever stores a change moves it. */
export interface LogEnd {
  readonly lastSeq: number;
  readonly usedBytes: number;
  readonly forgottenSeq: number;
}

/** What some paths held at one moment, and how long the log was then. */
export interface FileState {
  readonly end: LogEnd;
  readonly records: ReadonlyMap<string, FileRecord>;
}

/** A change with its place in the log. */
export interface NewChange {
  readonly seq: number;
  readonly deviceId: string;
  readonly opId: string | undefined;
  readonly path: string;
  /** What the path holds before; undefined: nothing. */
  readonly baseHash: string | undefined;
  /** Undefined deletes it. */
  readonly hash: string | undefined;
  readonly size: number;
  readonly isExecutable: boolean;
  readonly conflictOf: string | undefined;
  readonly atMs: number;
  /** The folder holds it already. */
  readonly isOnDisk: boolean;
  /** The path whose file this one was until the change before. */
  readonly movedFrom?: string | undefined;
  /** Of the change before it: the file goes on under another path. */
  readonly isMoved?: boolean;
}

/** The log's row is changed first: nothing is stored unless the log is as long as it was. */
const statement = `with locked as (
    update studio.file_logs set last_seq = $3, used_bytes = $4
    where workspace_id = $1 and last_seq = $2 returning workspace_id
  ), n as (
    select c.*, to_timestamp(c."atMs" / 1000.0) as at from locked, json_to_recordset($5::json)
      as c (seq bigint, "deviceId" text, "opId" text, path text, folded text, "baseHash" text,
        hash text, size bigint, "isExecutable" boolean, "conflictOf" text,
        "atMs" double precision, "isOnDisk" boolean, "movedFrom" text, "isMoved" boolean)
  ), put as (
    insert into studio.files (workspace_id, path, folded, hash, size, is_executable, seq,
      modified_at, is_on_disk)
    select $1, path, folded, hash, size, "isExecutable", seq, at, "isOnDisk" from n
    where hash is not null and "movedFrom" is null
    on conflict (workspace_id, path) do update set hash = excluded.hash, size = excluded.size,
      is_executable = excluded.is_executable, seq = excluded.seq,
      modified_at = excluded.modified_at, is_on_disk = excluded.is_on_disk
  ), moved as (
    update studio.files f set path = n.path, folded = n.folded, hash = n.hash, size = n.size,
      is_executable = n."isExecutable", seq = n.seq, modified_at = n.at, is_on_disk = n."isOnDisk"
    from n where f.workspace_id = $1 and f.path = n."movedFrom"
  ), gone as (
    delete from studio.files f using n where f.workspace_id = $1 and f.path = n.path
      and n.hash is null and n."isMoved" is null
  ), told as (
    insert into studio.file_changes (workspace_id, seq, device_id, op_id, path, operation,
      base_hash, hash, size, is_executable, conflict_of, at)
    select $1, seq, "deviceId", "opId", path,
      case when hash is null then 'delete' when "baseHash" is null then 'create' else 'update' end,
      "baseHash", hash, size, "isExecutable", "conflictOf", at from n
  )
  select exists (select from locked) as "isStored"`;

/**
 * Stores changes of different paths, all or none; false when the log has grown since its end was read, so
 * that what was decided by it may be wrong.
 */
export async function storeChanges(
  sql: FileSql,
  workspaceId: string,
  stored: {
    readonly expectedSeq: number;
    readonly usedBytes: number;
    readonly changes: readonly NewChange[];
  },
): Promise<boolean> {
  const { expectedSeq, usedBytes, changes } = stored;
  const rows = changes.map((change) => ({ ...change, folded: foldPath(change.path) }));
  const [row] = await sql.query<{ isStored: boolean }>(statement, [
    workspaceId,
    expectedSeq,
    changes.at(-1)?.seq ?? expectedSeq,
    usedBytes,
    JSON.stringify(rows),
  ]);
  return row?.isStored ?? false;
}

/** The log has to be open; `not_found` when it has gone with its workspace. */
export async function readState(
  sql: FileSql,
  workspaceId: string,
  paths: readonly string[],
): Promise<FileState> {
  const rows = await sql.query<LogEnd & Partial<FileRow>>(
    `select l.last_seq as "lastSeq", l.used_bytes as "usedBytes",
       l.forgotten_seq as "forgottenSeq", ${fileColumns}
     from studio.file_logs l left join studio.files f
       on f.workspace_id = l.workspace_id and f.path = any ($2::text[])
     where l.workspace_id = $1`,
    [workspaceId, paths],
  );
  const [end] = rows;
  if (!end)
    throw new Fault('not_found', 'the workspace has gone', { reason: 'workspace_not_found' });
  const records = new Map<string, FileRecord>();
  // A path that holds nothing gives one row without a file.
  for (const row of rows) if (isFile(row)) records.set(row.path, toRecord(row));
  return { end, records };
}

function isFile(row: Partial<FileRow>): row is FileRow {
  return typeof row.path === 'string';
}

/** Makes the log of a workspace, unless it has one. */
export async function openLog(sql: FileSql, workspaceId: string): Promise<void> {
  await sql.query(
    `insert into studio.file_logs (workspace_id) values ($1) on conflict do nothing`,
    [workspaceId],
  );
}

export async function readLogEnd(sql: FileSql, workspaceId: string): Promise<LogEnd | undefined> {
  const [row] = await sql.query<LogEnd>(
    `select last_seq as "lastSeq", used_bytes as "usedBytes", forgotten_seq as "forgottenSeq"
     from studio.file_logs where workspace_id = $1`,
    [workspaceId],
  );
  return row;
}

export async function readFile(
  sql: FileSql,
  workspaceId: string,
  path: string,
): Promise<FileRecord | undefined> {
  const [row] = await sql.query<FileRow>(
    `select ${fileColumns} from studio.files where workspace_id = $1 and path = $2`,
    [workspaceId, path],
  );
  return row && toRecord(row);
}

/** By path, behind `after`. */
export async function listFiles(
  sql: FileSql,
  workspaceId: string,
  { prefix = '', after = '', limit }: { prefix?: string; after?: string; limit: number },
): Promise<FileRecord[]> {
  const rows = await sql.query<FileRow>(
    `select ${fileColumns} from studio.files where workspace_id = $1
       and ($2 = '' or starts_with(path, $2)) and path collate "C" > $3
     order by path collate "C" limit $4`,
    [workspaceId, prefix, after, limit],
  );
  return rows.map(toRecord);
}

/**
 * What is in the way of paths: a file that differs by case, a file where a folder must be, or a folder whose
 * name differs by case. Answers it by the path that it is in the way of.
 */
export async function findCollisions(
  sql: FileSql,
  workspaceId: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  const wanted = paths.map((path) => {
    const folders = foldersOf(path).map((folder) => ({ folder, folded: foldPath(folder) }));
    return { path, folded: foldPath(path), folders };
  });
  const folders = new Map(wanted.flatMap((one) => one.folders.map((two) => [two.folder, two])));
  const rows = await sql.query<{ readonly wanted: string; readonly path: string }>(
    `with w as (
       select * from json_to_recordset($2::json) as r (path text, folded text)
     ), d as (
       select * from json_to_recordset($3::json) as r (folder text, folded text)
     )
     select w.path as wanted, f.path from w join studio.files f
       on f.workspace_id = $1 and f.folded = w.folded and f.path <> w.path
     union all
     select w.path, found.path from w cross join lateral (
       select f.path from studio.files f where f.workspace_id = $1
         and f.folded > w.folded collate "C" || '/' and f.folded < w.folded collate "C" || '0'
       limit 1) found
     union all
     select d.folder, f.path from d join studio.files f
       on f.workspace_id = $1 and f.folded = d.folded
     union all
     select d.folder, found.path from d cross join lateral (
       select f.path from studio.files f where f.workspace_id = $1
         and f.folded > d.folded collate "C" || '/' and f.folded < d.folded collate "C" || '0'
       limit 1) found
     where not starts_with(found.path, d.folder || '/')`,
    [
      workspaceId,
      JSON.stringify(wanted.map(({ path, folded }) => ({ path, folded }))),
      JSON.stringify([...folders.values()]),
    ],
  );
  const found = new Map(rows.map((row) => [row.wanted, row.path]));
  const collisions = new Map<string, string>();
  for (const one of wanted) {
    const others = [one.path, ...one.folders.map(({ folder }) => folder)];
    const other = others.map((path) => found.get(path)).find((path) => path !== undefined);
    if (other !== undefined) collisions.set(one.path, other);
  }
  return collisions;
}

/** What the folder does not hold yet. */
export async function readUnwritten(
  sql: FileSql,
  workspaceId: string,
): Promise<readonly FileRecord[]> {
  const rows = await sql.query<FileRow>(
    `select ${fileColumns} from studio.files where workspace_id = $1 and not is_on_disk`,
    [workspaceId],
  );
  return rows.map(toRecord);
}

/** The folders hold these changes. */
export async function markWritten(
  sql: FileSql,
  changes: readonly { readonly workspaceId: string; readonly seq: number }[],
): Promise<void> {
  await sql.query(
    `update studio.files f set is_on_disk = true
     from json_to_recordset($1::json) as w ("workspaceId" text, seq bigint)
     where f.workspace_id = w."workspaceId" and f.seq = w.seq and not f.is_on_disk`,
    [JSON.stringify(changes)],
  );
}

function toRecord(row: FileRow): FileRecord {
  return {
    path: row.path,
    hash: row.hash,
    size: row.size,
    isExecutable: row.is_executable,
    seq: row.seq,
    modifiedAtMs: row.modified_at.getTime(),
  };
}
