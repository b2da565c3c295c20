import type { FileSql } from './file-store.ts';

/** Notes content that was sent to a workspace; false when it would take more than so much with the rest. */
export async function insertUpload(
  sql: FileSql,
  { workspaceId, hash, size }: { workspaceId: string; hash: string; size: number },
  quotaBytes: number,
): Promise<boolean> {
  const [row] = await sql.query<{ isStored: boolean }>(
    `with used as (
       select coalesce((select used_bytes from studio.file_logs where workspace_id = $1), 0)
         + coalesce((select sum(size) from studio.uploads
             where workspace_id = $1 and hash <> $2), 0) as bytes
     ), made as (
       insert into studio.uploads (workspace_id, hash, size, at)
       select $1, $2, $3::bigint, now() from used where used.bytes + $3::bigint <= $4::bigint
       on conflict (workspace_id, hash) do update set at = excluded.at returning 1
     )
     select exists (select from made) as "isStored"`,
    [workspaceId, hash, size, quotaBytes],
  );
  return row?.isStored ?? false;
}

/** Of some contents those that a workspace has: as a file, as a version or as an upload; with their sizes. */
export async function findKept(
  sql: FileSql,
  workspaceId: string,
  hashes: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql.query<{ hash: string; size: number }>(
    `select h.hash, coalesce(
       (select f.size from studio.files f where f.workspace_id = $1 and f.hash = h.hash limit 1),
       (select u.size from studio.uploads u where u.workspace_id = $1 and u.hash = h.hash),
       (select c.size from studio.file_changes c where c.workspace_id = $1 and c.hash = h.hash
         limit 1)) as size
     from (select distinct hash from unnest($2::text[]) as given (hash)) h`,
    [workspaceId, hashes],
  );
  return new Map(rows.filter(({ size }) => size !== null).map(({ hash, size }) => [hash, size]));
}

/** They are files by now. */
export async function deleteUploads(
  sql: FileSql,
  workspaceId: string,
  hashes: readonly string[],
): Promise<void> {
  await sql.query(
    'delete from studio.uploads where workspace_id = $1 and hash = any ($2::text[])',
    [workspaceId, hashes],
  );
}

/** Forgets uploads that are older; answers their hashes. */
export async function expireUploads(sql: FileSql, before: Date): Promise<string[]> {
  const rows = await sql.query<{ hash: string }>(
    'delete from studio.uploads where at < $1::timestamptz returning hash',
    [before],
  );
  return rows.map(({ hash }) => hash);
}
