import type { Directory } from '../../connections/connection.ts';
import type { CmsClient } from './cms-client.ts';
import type { CmsLink } from './sync-plan.ts';

const pageMax = 500;

export interface HealthPush {
  readonly syncId: string;
  readonly links: readonly CmsLink[];
  readonly directory: Pick<Directory, 'find'>;
}

/** Tells a CMS how the servers are that it has records of. */
export async function pushHealth(
  client: CmsClient,
  { syncId, links, directory }: HealthPush,
): Promise<void> {
  const servers = links.flatMap((link) => healthOf(link, directory));
  for (let start = 0; start < servers.length; start += pageMax) {
    await client.pushHealth({ syncId, servers: servers.slice(start, start + pageMax) });
  }
}

function healthOf({ recordId, connectionId }: CmsLink, directory: HealthPush['directory']) {
  const connection = directory.find(connectionId);
  if (!connection) return [];
  const { name, status, health } = connection;
  const { lastCheckMs, reason } = health;
  const lastCheck = lastCheckMs === undefined ? null : new Date(lastCheckMs).toISOString();
  const why = reason === undefined ? {} : { reason };
  return [{ id: recordId, connectionId, name, status, health: health.status, ...why, lastCheck }];
}
