import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../../kit/errors.ts';
import { peerPermission } from '../../kit/permissions.ts';
import type { Peer } from '../../kit/service.ts';
import { findApiKey, insertApiKey, revokeOtherKeys, updateApiKey } from './api-key-store.ts';
import { isSecretOf, parseApiKey, secretSessionIds } from './api-key-text.ts';
import { issueApiKey } from './api-keys.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Revoker } from '../tokens/revoker.ts';
import { writeSecretFile } from '../../kit/secrets/secret-file.ts';
import type { ApiKeyRow, Sql } from '../tables.ts';

export interface ServiceIdentitiesOptions {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
  /** One file a service, `<name>.key`, 0600. */
  readonly folder: string;
}

/** Owns the keys of the suite's own services; no service may have this name. */
export const suiteOwner = 'suite';
const everyService = peerPermission;
const noOrigin = { ip: '', userAgent: '' };

/**
 * Sees to it that every service has an API key of its own with just its grants, in its file. A good
 * file is kept; a lost or foreign one is replaced and the service's old keys are revoked.
 */
export async function ensureServiceIdentities(
  peers: readonly Peer[],
  options: ServiceIdentitiesOptions,
): Promise<void> {
  for (const peer of peers) await ensureServiceIdentity(peer, options);
}

async function ensureServiceIdentity(peer: Peer, options: ServiceIdentitiesOptions): Promise<void> {
  const path = join(options.folder, `${peer.name}.key`);
  const permissions = [...new Set([...peer.grants, everyService])].toSorted();
  const key = await findKeyOf(peer, path, options.sql);
  if (!key) return replaceKey(peer, { path, permissions }, options);
  if (key.permissions.join() === permissions.join()) return;
  await updateApiKey(options.sql, key.id, { permissions });
}

/** The key in the file, when the database knows it as this service's and it is in force. */
async function findKeyOf(peer: Peer, path: string, sql: Sql): Promise<ApiKeyRow | undefined> {
  const parts = parseApiKey((await readText(path)).trim());
  const key = parts && (await findApiKey(sql, parts.id));
  if (!key || key.revoked_at || key.owner_id !== suiteOwner || key.service !== peer.name)
    return undefined;
  return isSecretOf(key.hash, parts.secret) ? key : undefined;
}

/** The new key counts before it is in the file, and the old ones go last: no moment without one. */
async function replaceKey(
  { name }: Peer,
  { path, permissions }: { readonly path: string; readonly permissions: readonly string[] },
  { sql, audit, revoker }: ServiceIdentitiesOptions,
): Promise<void> {
  const wanted = { name: `service identity of ${name}`, service: name, permissions };
  const issued = issueApiKey({ ...wanted, kind: 'service', ownerId: suiteOwner, expiresAt: null });
  await insertApiKey(sql, issued.key);
  await writeSecretFile(path, `${issued.text}\n`);
  await revoker.revoke(async (trx) => {
    const facts = { keyId: issued.key.id, service: name, permissions };
    const event = { userId: suiteOwner, origin: noOrigin, provider: 'suite', facts } as const;
    await audit.recordWithin(trx, { eventType: 'api_key_created', ...event });
    const revoked = await revokeOtherKeys(trx, issued.key, new Date());
    return revoked.flatMap(secretSessionIds).map((id) => ({ kind: 'session', id }) as const);
  });
}

/** Empty when there is no file. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return '';
    throw error;
  }
}
