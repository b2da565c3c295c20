import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { administrationEvent, requireHeld, type Administrator } from '../accounts/administrator.ts';
import {
  deleteEndedKeys,
  findApiKey,
  findApiKeyForUpdate,
  insertApiKey,
  listApiKeys,
  updateApiKey,
} from './api-key-store.ts';
import {
  formatApiKey,
  hashApiKeySecret,
  newApiKeySecret,
  secretSessionId,
  secretSessionIds,
} from './api-key-text.ts';
import type { AuditLog } from '../audit/audit.ts';
import { isDelegate, isDelegatedBy, requireDelegable } from './delegation.ts';
import type { Revoker, Target } from '../tokens/revoker.ts';
import type { RoleTable } from '../roles/roles.ts';
import { inTransaction } from '../store.ts';
import type { ApiKeyRow, FormerSecret, Sql } from '../tables.ts';
import { findUser } from '../accounts/user-store.ts';
import type { NewApiKey } from './new-api-key.ts';

export interface ApiKeysOptions {
  /** Names that only the suite and its own services may have. */
  readonly reservedNames: readonly string[];
  readonly sql: Sql;
  readonly roles: RoleTable;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
}

/** A key together with its text, which cannot be had again. */
export interface IssuedApiKey {
  readonly key: ApiKeyRow;
  readonly text: string;
}

const dayMs = 86_400_000;
/** Longer than any token lives that such a key was traded for. */
const endedKeptMs = 7 * dayMs;
const overlapSecondsDefault = 86_400;
/** So many secrets that a key had before may be good at once. */
const formerSecretsMax = 8;

/** Administration of API keys; a delegate's are those that it made, the rest do not exist for it. */
export class ApiKeys {
  readonly #options: ApiKeysOptions;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  list(page: { readonly limit: number; readonly offset: number }, by: Administrator) {
    const madeBy = isDelegate(by) ? by.identity.subject : undefined;
    return listApiKeys(this.#options.sql, { ...page, madeBy });
  }

  async read(id: string, by: Administrator): Promise<ApiKeyRow> {
    return visible(await findApiKey(this.#options.sql, id), by);
  }

  /** Issues a key with permissions that its creator holds; `forbidden` else. */
  async create(wanted: NewApiKey, by: Administrator): Promise<IssuedApiKey> {
    requireHeld(by, wanted.permissions);
    if (isDelegate(by)) requireDelegable(wanted, by);
    this.#requireFreeName(wanted.service);
    if (wanted.userId !== undefined) await this.#requireManageableUser(wanted.userId, by);
    const { expiresInDays, userId } = wanted;
    const issued = issueApiKey({
      ...wanted,
      kind: userId === undefined ? 'service' : 'user',
      ownerId: userId ?? by.identity.subject,
      expiresAt: expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * dayMs),
    });
    await inTransaction(this.#options.sql, async (trx) => {
      await insertApiKey(trx, issued.key);
      await this.#record(trx, administrationEvent(by, 'api_key_created', factsOf(issued.key)));
    });
    return issued;
  }

  /** The suite's own services have their keys from the suite, and nobody else passes for them. */
  #requireFreeName(service: string): void {
    if (!this.#options.reservedNames.includes(service)) return;
    throw new Fault('conflict', `${service} is a service of the suite itself`, {
      reason: 'service_name_reserved',
    });
  }

  /** Ends a key and every token that it was traded for; ending it again changes nothing. */
  async revoke(id: string, by: Administrator): Promise<ApiKeyRow> {
    await this.#options.revoker.revoke(async (trx) => {
      const key = visible(await findApiKeyForUpdate(trx, id), by);
      if (key.revoked_at) return [];
      await updateApiKey(trx, id, { revoked_at: new Date() });
      if (isDelegate(by)) {
        const before = new Date(Date.now() - endedKeptMs);
        await deleteEndedKeys(trx, by.identity.subject, before);
      }
      await this.#record(trx, administrationEvent(by, 'api_key_revoked', factsOf(key)));
      return secretSessionIds(key).map(sessionTarget);
    });
    return this.read(id, by);
  }

  /**
   * Gives a key a new secret. The old one is good for the overlap, a day unless told, also when the key
   * is rotated again meanwhile; without an overlap all old ones end at once. The tokens of a secret end
   * with it. A Fault `conflict` (`too_many_secrets`) when eight old ones are still good.
   */
  async rotate(
    id: string,
    { overlapSeconds = overlapSecondsDefault }: { readonly overlapSeconds?: number | undefined },
    by: Administrator,
  ): Promise<IssuedApiKey> {
    const secret = newApiKeySecret();
    await this.#options.revoker.revoke(async (trx) => {
      const key = visible(await findApiKeyForUpdate(trx, id), by);
      requireHeld(by, key.permissions);
      if (key.kind === 'user') await this.#requireManageableUser(key.owner_id, by, trx);
      requireLive(key);
      const { former, ended } = succeed(key, overlapSeconds);
      await updateApiKey(trx, id, { hash: hashApiKeySecret(secret), former_secrets: former });
      const facts = { ...factsOf(key), overlapSeconds };
      await this.#record(trx, administrationEvent(by, 'api_key_rotated', facts));
      return ended;
    });
    return { key: await this.read(id, by), text: formatApiKey({ id, secret }) };
  }

  /** Who has a user's key can speak as the user, so only who may do as much gets one. */
  async #requireManageableUser(
    userId: string,
    by: Administrator,
    sql: Sql = this.#options.sql,
  ): Promise<void> {
    const user = await findUser(sql, userId);
    if (!user) throw new Fault('invalid', 'there is no such user', { reason: 'user_not_found' });
    requireHeld(by, this.#options.roles.permissionsOf(user));
  }

  #record(...event: Parameters<AuditLog['recordWithin']>): Promise<void> {
    return this.#options.audit.recordWithin(...event);
  }
}

/** A new key with a fresh secret; it counts once it is stored. */
export function issueApiKey(
  wanted: Pick<NewApiKey, 'name' | 'service' | 'permissions'> & {
    readonly kind: ApiKeyRow['kind'];
    readonly ownerId: string;
    readonly expiresAt: Date | null;
  },
): IssuedApiKey {
  const id = newId('key');
  const secret = newApiKeySecret();
  const key = {
    id,
    name: wanted.name,
    service: wanted.service,
    kind: wanted.kind,
    owner_id: wanted.ownerId,
    permissions: [...new Set(wanted.permissions)].toSorted(),
    hash: hashApiKeySecret(secret),
    former_secrets: [],
    created_at: new Date(),
    expires_at: wanted.expiresAt,
    last_used_at: null,
    revoked_at: null,
  };
  return { key, text: formatApiKey({ id, secret }) };
}

/** The old secrets of a key once it has another one, and which tokens end, now or with the overlap. */
function succeed(
  key: ApiKeyRow,
  overlapSeconds: number,
): { readonly former: readonly FormerSecret[]; readonly ended: readonly Target[] } {
  if (overlapSeconds === 0) return { former: [], ended: secretSessionIds(key).map(sessionTarget) };
  const nowMs = Date.now();
  const good = key.former_secrets.filter(({ expiresAt }) => Date.parse(expiresAt) > nowMs);
  if (good.length >= formerSecretsMax) {
    const message = `${good.length} old secrets are still good: end them by a rotation without an overlap`;
    throw new Fault('conflict', message, { reason: 'too_many_secrets' });
  }
  const keyEndMs = key.expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
  const untilMs = Math.min(nowMs + overlapSeconds * 1000, keyEndMs);
  const old = { hash: key.hash.toString('hex'), expiresAt: new Date(untilMs).toISOString() };
  const end = sessionTarget(secretSessionId(key.id, key.hash));
  return {
    former: [old, ...good],
    ended: [{ ...end, startsAt: Math.ceil(untilMs / 1000) }],
  };
}

function sessionTarget(id: string): Target {
  return { kind: 'session', id };
}

function visible(key: ApiKeyRow | undefined, by: Administrator): ApiKeyRow {
  if (key && (!isDelegate(by) || isDelegatedBy(key, by))) return key;
  throw new Fault('not_found', 'there is no such API key', { reason: 'api_key_not_found' });
}

function requireLive(key: ApiKeyRow): void {
  const isExpired = key.expires_at !== null && key.expires_at.getTime() <= Date.now();
  if (!key.revoked_at && !isExpired) return;
  throw new Fault('conflict', 'the API key has ended: create another', { reason: 'api_key_ended' });
}

function factsOf({ id, name, service, kind, owner_id, permissions }: ApiKeyRow) {
  return { keyId: id, name, service, kind, ownerId: owner_id, permissions };
}
