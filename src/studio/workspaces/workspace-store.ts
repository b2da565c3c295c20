import type { Database } from '../../kit/database/database.ts';
import type { Member, Workspace, WorkspaceSettings } from './workspace.ts';

export type WorkspaceSql = Pick<Database, 'query'>;

interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly owner_id: string;
  readonly path: string;
  readonly settings: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** JSON. */
  readonly members: string;
}

const columns = `w.id, w.name, w.description, w.owner_id, w.path, w.settings, w.created_at,
  w.updated_at, (select coalesce(json_agg(json_build_object('userId', m.user_id, 'role', m.role)
    order by m.user_id), '[]')::text
    from studio.members m where m.workspace_id = w.id) as members`;

const fromMembers = `json_to_recordset($2::json) as g("userId" text, role text)`;

/** Stores a new workspace with its members. */
export async function insertWorkspace(sql: WorkspaceSql, workspace: Workspace): Promise<void> {
  const { id, members, name, description, ownerId, path, settings, createdAtMs } = workspace;
  await sql.query(
    `with made as (
       insert into studio.workspaces (id, name, description, owner_id, path, settings, created_at,
         updated_at)
       values ($1, $3, $4, $5, $6, $7, $8::timestamptz, $8::timestamptz))
     insert into studio.members (workspace_id, user_id, role)
     select $1, g."userId", g.role from ${fromMembers}`,
    [
      id,
      JSON.stringify(members),
      name,
      description,
      ownerId,
      path,
      JSON.stringify(settings),
      new Date(createdAtMs),
    ],
  );
}

/** One that is not being deleted. */
export async function readWorkspace(sql: WorkspaceSql, id: string): Promise<Workspace | undefined> {
  const [row] = await sql.query<WorkspaceRow>(
    `select ${columns} from studio.workspaces w where w.id = $1 and not w.is_leaving`,
    [id],
  );
  return row && toWorkspace(row);
}

/** Those of a member, or all; newest first, with the number of them. */
export async function listWorkspaces(
  sql: WorkspaceSql,
  userId: string | undefined,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly workspaces: Workspace[]; readonly total: number }> {
  const where = `not w.is_leaving and ($1::text is null or exists (select from studio.members m
    where m.workspace_id = w.id and m.user_id = $1))`;
  const [rows, [counted]] = await Promise.all([
    sql.query<WorkspaceRow>(
      `select ${columns} from studio.workspaces w where ${where}
       order by w.id desc limit $2 offset $3`,
      [userId, limit, offset],
    ),
    sql.query<{ total: number }>(
      `select count(*) as total from studio.workspaces w where ${where}`,
      [userId],
    ),
  ]);
  return { workspaces: rows.map(toWorkspace), total: counted?.total ?? 0 };
}

/** Stores what a workspace is now; false when it is gone, or somebody changed it meanwhile. */
export async function updateWorkspace(
  sql: WorkspaceSql,
  workspace: Workspace,
  beforeMs: number,
): Promise<boolean> {
  const { id, members, name, description, settings, updatedAtMs } = workspace;
  const rows = await sql.query(
    `with changed as (
       update studio.workspaces set name = $3, description = $4, settings = $5,
         updated_at = $6::timestamptz
       where id = $1 and not is_leaving and updated_at = $7::timestamptz returning id
     ), gone as (
       delete from studio.members where workspace_id in (select id from changed)
         and user_id not in (select g."userId" from ${fromMembers})
     ), kept as (
       insert into studio.members (workspace_id, user_id, role)
       select c.id, g."userId", g.role from changed c, ${fromMembers}
       on conflict (workspace_id, user_id) do update set role = excluded.role)
     select id from changed`,
    [
      id,
      JSON.stringify(members),
      name,
      description,
      JSON.stringify(settings),
      new Date(updatedAtMs),
      new Date(beforeMs),
    ],
  );
  return rows.length > 0;
}

/** From now on it exists for nobody; false when it was so already. */
export async function markLeaving(sql: WorkspaceSql, id: string): Promise<boolean> {
  const rows = await sql.query(
    `update studio.workspaces set is_leaving = true where id = $1 and not is_leaving returning id`,
    [id],
  );
  return rows.length > 0;
}

/** Those whose deletion was begun. */
export async function readLeaving(
  sql: WorkspaceSql,
): Promise<readonly { readonly id: string; readonly path: string }[]> {
  return sql.query('select id, path from studio.workspaces where is_leaving');
}

export async function deleteWorkspace(sql: WorkspaceSql, id: string): Promise<void> {
  await sql.query('delete from studio.workspaces where id = $1', [id]);
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    ownerId: row.owner_id,
    // Written by this store.
    members: JSON.parse(row.members) as Member[],
    path: row.path,
    settings: JSON.parse(row.settings) as WorkspaceSettings,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  };
}
