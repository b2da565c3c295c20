import type { AuditRecord } from '../audit/chain.ts';
import { apiKeyPrefix } from '../api-keys/api-key-text.ts';
import type { ApiKeyRow, UserRow } from '../tables.ts';

/** A user as the interface shows it. */
export function toUser(user: UserRow) {
  const { id, username, email, name, roles, disabled } = user;
  return {
    id,
    username,
    email,
    name,
    roles,
    disabled,
    createdAt: user.created_at.toISOString(),
    updatedAt: user.updated_at.toISOString(),
    ...optionalTime('lastLoginAt', user.last_login_at),
  };
}

/** An API key as the interface shows it: nothing of the secret. */
export function toApiKey(key: ApiKeyRow) {
  const { id, name, service, kind, permissions } = key;
  return {
    id,
    name,
    service,
    kind,
    ownerId: key.owner_id,
    permissions,
    prefix: apiKeyPrefix(id),
    createdAt: key.created_at.toISOString(),
    ...optionalTime('expiresAt', key.expires_at),
    ...optionalTime('lastUsedAt', key.last_used_at),
    ...optionalTime('revokedAt', key.revoked_at),
    ...optionalTime('previousExpiresAt', lastEndOf(key)),
  };
}

/** When no old secret is good any more; null when there is none. */
function lastEndOf({ former_secrets: former }: ApiKeyRow): Date | null {
  const ends = former.map(({ expiresAt }) => Date.parse(expiresAt));
  return ends.length > 0 ? new Date(Math.max(...ends)) : null;
}

/** An audit event as the interface shows it. */
export function toAuditEvent(record: AuditRecord) {
  const { mfa, provider, ...facts } = record.metadata;
  return {
    eventType: record.event_type,
    userId: record.user_id,
    timestamp: record.occurred_at.toISOString(),
    ip: record.ip,
    userAgent: record.user_agent,
    clientId: record.client_id,
    metadata: { mfa: mfa === true, provider: String(provider), ...facts },
  };
}

function optionalTime<K extends string>(name: K, time: Date | null): Partial<Record<K, string>> {
  // A computed key widens to an index signature; this object has just the one.
  return time ? ({ [name]: time.toISOString() } as Record<K, string>) : {};
}
