import type { Database } from '../../kit/database/database.ts';

export type DeviceSql = Pick<Database, 'query'>;

/** A device of a user, and the last change of a workspace that it has taken over. */
export interface Device {
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly userId: string;
  readonly lastSeq: number;
  readonly seenAtMs: number;
}

/** Notes how far devices have come: none goes back, and none beyond the newest change. */
export async function noteDevices(sql: DeviceSql, devices: readonly Device[]): Promise<void> {
  const rows = new Map(devices.map((one) => [`${one.workspaceId}/${one.deviceId}`, one]));
  await sql.query(
    `insert into studio.devices (workspace_id, device_id, user_id, last_seq, seen_at)
     select d."workspaceId", d."deviceId", d."userId", least(d."lastSeq", coalesce(l.last_seq, 0)),
       to_timestamp(d."seenAtMs" / 1000.0)
     from json_to_recordset($1::json) as d ("workspaceId" text, "deviceId" text, "userId" text,
       "lastSeq" bigint, "seenAtMs" double precision)
     join studio.workspaces w on w.id = d."workspaceId"
     left join studio.file_logs l on l.workspace_id = w.id
     on conflict (workspace_id, device_id) do update set
       last_seq = greatest(devices.last_seq, excluded.last_seq), seen_at = excluded.seen_at
       where devices.user_id = excluded.user_id`,
    [JSON.stringify([...rows.values()])],
  );
}

/** Whose a device is: the first one's to call it so, which is this user where nobody did. */
export async function claimDevice(
  sql: DeviceSql,
  { workspaceId, deviceId, userId }: Pick<Device, 'workspaceId' | 'deviceId' | 'userId'>,
): Promise<string> {
  const [row] = await sql.query<{ readonly userId: string }>(
    `insert into studio.devices (workspace_id, device_id, user_id, last_seq, seen_at)
     values ($1, $2, $3, 0, now())
     on conflict (workspace_id, device_id) do update set user_id = devices.user_id
     returning user_id as "userId"`,
    [workspaceId, deviceId, userId],
  );
  return row?.userId ?? userId;
}

/** Those of a workspace, the last seen first; at most 1,000. */
export async function readDevices(sql: DeviceSql, workspaceId: string): Promise<Device[]> {
  const rows = await sql.query<Omit<Device, 'seenAtMs'> & { readonly seenAt: Date }>(
    `select workspace_id as "workspaceId", device_id as "deviceId", user_id as "userId",
       last_seq as "lastSeq", seen_at as "seenAt"
     from studio.devices where workspace_id = $1 order by seen_at desc, device_id limit 1000`,
    [workspaceId],
  );
  return rows.map(({ seenAt, ...device }) => ({ ...device, seenAtMs: seenAt.getTime() }));
}
