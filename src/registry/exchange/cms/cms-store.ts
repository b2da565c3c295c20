import type { Database } from '../../../kit/database/database.ts';
import { recordOf } from '../json-values.ts';
import type { CmsLink } from './sync-plan.ts';
import type { Side, SyncMode, SyncResult } from './sync-result.ts';

export type CmsSql = Pick<Database, 'query'>;

export interface StartedSync {
  readonly syncId: string;
  readonly cms: string;
  readonly direction: SyncMode;
  readonly isDryRun: boolean;
  readonly startedBy: string;
}

export interface PastSync extends StartedSync {
  readonly status: 'running' | 'done' | 'failed';
  readonly result: Partial<SyncResult>;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

const historyMs = 90 * 86_400_000;
const tombstonesMs = 30 * 86_400_000;

/** What a sync holds while it runs, so that there is one at a time for each CMS. */
export const leaseOfSync = (cms: string): string => `cms-sync ${cms}`;

/** Under the lease: what still runs was left behind by a process that went away. */
export async function beginSync(sql: CmsSql, sync: StartedSync): Promise<void> {
  const now = new Date();
  await sql.query(
    `update registry.cms_syncs set status = 'failed', ended_at = $2::timestamptz
     where cms = $1 and status = 'running'`,
    [sync.cms, now],
  );
  await sql.query(
    `insert into registry.cms_syncs (id, cms, direction, is_dry_run, started_by, started_at)
     values ($1, $2, $3, $4, $5, $6::timestamptz)`,
    [sync.syncId, sync.cms, sync.direction, sync.isDryRun, sync.startedBy, now],
  );
}

/** Keeps how a sync ended and drops what is too old to matter. */
export async function endSync(
  sql: CmsSql,
  syncId: string,
  { status, result }: { readonly status: 'done' | 'failed'; readonly result: Partial<SyncResult> },
): Promise<void> {
  const now = Date.now();
  await sql.query(
    `with old_syncs as (delete from registry.cms_syncs where started_at < $5::timestamptz),
     old_links as (delete from registry.cms_links
       where removed_by is not null and updated_at < $6::timestamptz)
     update registry.cms_syncs set status = $2, result = $3, ended_at = $4::timestamptz
     where id = $1`,
    [
      syncId,
      status,
      JSON.stringify(result),
      new Date(now),
      new Date(now - historyMs),
      new Date(now - tombstonesMs),
    ],
  );
}

interface SyncRow {
  readonly id: string;
  readonly cms: string;
  readonly direction: SyncMode;
  readonly is_dry_run: boolean;
  readonly started_by: string;
  readonly status: PastSync['status'];
  readonly result: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly total: string | number;
}

export async function listSyncs(
  sql: CmsSql,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ syncs: readonly PastSync[]; total: number }> {
  const rows = await sql.query<Partial<SyncRow> & Pick<SyncRow, 'total'>>(
    `select page.*, counted.total
     from (select count(*)::int as total from registry.cms_syncs) counted
     left join (
       select s.id, s.cms, s.direction, s.is_dry_run, s.started_by, s.result, s.started_at,
         s.ended_at, case when s.status = 'running' and not exists (
           select 1 from registry.leases l where l.name = $3 || s.cms and l.holder = s.id
             and l.expires_at > clock_timestamp()
         ) then 'failed' else s.status end as status
       from registry.cms_syncs s order by s.started_at desc, s.id desc limit $1 offset $2
     ) page on true
     order by page.started_at desc, page.id desc`,
    [limit, offset, leaseOfSync('')],
  );
  const syncs = rows.filter(hasSync).map(toPastSync);
  return { syncs, total: Number(rows[0]?.total ?? 0) };
}

/** A page beyond the last still has the row of the count. */
function hasSync(row: Partial<SyncRow>): row is SyncRow {
  return row.id !== undefined && row.id !== null;
}

function toPastSync(row: SyncRow): PastSync {
  return {
    syncId: row.id,
    cms: row.cms,
    direction: row.direction,
    isDryRun: row.is_dry_run,
    startedBy: row.started_by,
    status: row.status,
    result: recordOf(JSON.parse(row.result ?? '{}')),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

interface LinkRow {
  readonly record_id: string;
  readonly connection_id: string;
  readonly local_base: string;
  readonly remote_base: string;
  readonly removed_by: Side | null;
  readonly is_believed: boolean;
}

export async function readLinks(sql: CmsSql, cms: string): Promise<readonly CmsLink[]> {
  const rows = await sql.query<LinkRow>(
    `select record_id, connection_id, local_base, remote_base, removed_by, is_believed
     from registry.cms_links where cms = $1`,
    [cms],
  );
  return rows.map((row) => ({
    recordId: row.record_id,
    connectionId: row.connection_id,
    isBelieved: row.is_believed,
    base: {
      local: recordOf(JSON.parse(row.local_base)),
      remote: recordOf(JSON.parse(row.remote_base)),
    },
    ...(row.removed_by ? { removedBy: row.removed_by } : {}),
  }));
}

/** Adds or replaces; no record may be there twice. */
export async function saveLinks(
  sql: CmsSql,
  cms: string,
  links: readonly CmsLink[],
): Promise<void> {
  if (links.length === 0) return;
  const rows = links.map(({ recordId, connectionId, base, removedBy }) => ({
    record_id: recordId,
    connection_id: connectionId,
    local_base: JSON.stringify(base.local),
    remote_base: JSON.stringify(base.remote),
    removed_by: removedBy ?? null,
  }));
  await sql.query(
    `insert into registry.cms_links
       (cms, record_id, connection_id, local_base, remote_base, removed_by, updated_at)
     select $1, l.record_id, l.connection_id, l.local_base, l.remote_base, l.removed_by,
       $3::timestamptz
     from json_to_recordset($2::json) as l(record_id text, connection_id text, local_base text,
       remote_base text, removed_by text)
     on conflict (cms, record_id) do update set connection_id = excluded.connection_id,
       local_base = excluded.local_base, remote_base = excluded.remote_base,
       removed_by = excluded.removed_by, updated_at = excluded.updated_at`,
    [cms, JSON.stringify(rows), new Date()],
  );
}

/** After a sync whose listing was whole and believed: what is linked now was there at that time. */
export async function believeLinks(sql: CmsSql, cms: string): Promise<void> {
  await sql.query(
    'update registry.cms_links set is_believed = true where cms = $1 and not is_believed',
    [cms],
  );
}

export async function readTag(sql: CmsSql, cms: string): Promise<string | undefined> {
  const [row] = await sql.query<{ tag: string }>(
    'select tag from registry.cms_tags where cms = $1',
    [cms],
  );
  return row?.tag;
}

/** Forgets the tag when there is none. */
export async function saveTag(sql: CmsSql, cms: string, tag: string | undefined): Promise<void> {
  if (tag === undefined) {
    await sql.query('delete from registry.cms_tags where cms = $1', [cms]);
    return;
  }
  await sql.query(
    `insert into registry.cms_tags (cms, tag) values ($1, $2)
     on conflict (cms) do update set tag = excluded.tag`,
    [cms, tag],
  );
}
