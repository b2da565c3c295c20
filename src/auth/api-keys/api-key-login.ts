import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Origin } from '../audit/audit-event.ts';
import { findApiKey, markApiKeysUsed } from './api-key-store.ts';
import {
  hashApiKeySecret,
  isSecretOf,
  newApiKeySecret,
  parseApiKey,
  secretSessionId,
  type ApiKeyText,
} from './api-key-text.ts';
import type { RoleTable } from '../roles/roles.ts';
import type { ApiKeyRow, Sql, UserRow } from '../tables.ts';
import {
  accessLifeSeconds,
  intersectPermissions,
  type Grant,
  type TokenMint,
} from '../tokens/tokens.ts';
import { findSettledUser } from '../accounts/user-store.ts';

export interface ApiKeyLoginOptions {
  readonly sql: Sql;
  readonly mint: TokenMint;
  readonly roles: RoleTable;
  readonly audit: AuditLog;
  readonly log: Log;
}

export interface ApiKeyAttempt {
  readonly apiKey: string;
  readonly clientId: string;
  readonly origin: Origin;
}

/** The token that an API key was traded for. */
export interface ApiKeyToken {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly service: string;
  readonly permissions: readonly string[];
}

interface Use {
  readonly id: string;
  readonly at: Date;
}

/** Trades API keys for access tokens. */
export class ApiKeyLogin implements AsyncDisposable {
  readonly #options: ApiKeyLoginOptions;
  readonly #uses: Batch<Use>;

  constructor(options: ApiKeyLoginOptions) {
    this.#options = options;
    this.#uses = createBatch<Use>({
      flush: (uses) =>
        markApiKeysUsed(options.sql, new Map(uses.map(({ id, at }) => [id, at] as const))),
      maxItems: 1_000,
      maxDelayMs: 2_000,
      maxPending: 10_000,
    });
  }

  /**
   * A token for a key that is known, neither revoked nor expired, and whose user, if it acts for
   * one, is not disabled. It never outlives the key. Throws `unauthenticated` otherwise; text with a
   * wrong checksum costs no query.
   */
  async exchange({ apiKey, clientId, origin }: ApiKeyAttempt): Promise<ApiKeyToken> {
    const startedAt = new Date();
    const parts = parseApiKey(apiKey);
    if (!parts) return this.#refuseText(clientId, origin);
    const { key, user, use } = await this.#find(parts, startedAt);
    const flaw = flawOf({ key, user, use, now: startedAt });
    await this.#options.audit.record({
      eventType: flaw ? 'api_key_login_failure' : 'api_key_login_success',
      userId: key && subjectOf(key),
      clientId,
      origin,
      provider: 'api-key',
      facts: { keyId: parts.id, service: key?.service, reason: flaw },
    });
    if (!key || !use || flaw) throw refusal(flaw ?? 'api_key_invalid');
    this.#noteUse({ id: key.id, at: startedAt });
    return this.#sign(key, { user, use, clientId, startedAt });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#uses.close();
  }

  #refuseText(clientId: string, origin: Origin): never {
    const reason = 'api_key_invalid';
    this.#options.audit.tally({
      eventType: 'api_key_login_failure',
      clientId,
      origin,
      provider: 'api-key',
      facts: { reason },
    });
    throw refusal(reason);
  }

  /** The key, whom it acts for and which of its secrets this is, as far as they are there. */
  async #find({ id, secret }: ApiKeyText, now: Date) {
    const { sql } = this.#options;
    const key = await findApiKey(sql, id);
    // An id that nobody has costs what a wrong secret costs, so that time does not tell which it was.
    const use = findSecret(key ?? noKey, secret, now);
    // A disabling under way must not be overtaken: its revocation covers what the user had before it.
    const isUsers = use !== undefined && key?.kind === 'user';
    const user = isUsers ? await findSettledUser(sql, key.owner_id) : undefined;
    return { key, user, use };
  }

  async #sign(
    key: ApiKeyRow,
    by: {
      readonly user: UserRow | undefined;
      readonly use: SecretUse;
      readonly clientId: string;
      readonly startedAt: Date;
    },
  ): Promise<ApiKeyToken> {
    const grant = this.#grantOf(key, by);
    const expiresInSeconds = lifeOf([key.expires_at, by.use.expiresAt], by.startedAt);
    const accessToken = await this.#options.mint.signAccess(grant, {
      issuedAt: Math.floor(by.startedAt.getTime() / 1000),
      lifeSeconds: expiresInSeconds,
    });
    return { accessToken, expiresInSeconds, service: key.service, permissions: grant.permissions };
  }

  #grantOf(
    key: ApiKeyRow,
    {
      user,
      use,
      clientId,
    }: {
      readonly user: UserRow | undefined;
      readonly use: SecretUse;
      readonly clientId: string;
    },
  ): Grant {
    const grant = { subject: subjectOf(key), sessionId: use.sessionId, clientId };
    if (!user) return { ...grant, roles: [], permissions: key.permissions, tokenEpoch: 0 };
    const { roles } = this.#options;
    return {
      ...grant,
      roles: roles.rolesOf(user),
      permissions: intersectPermissions(key.permissions, roles.permissionsOf(user)),
      user: { id: user.id, email: user.email, name: user.name },
      tokenEpoch: user.token_epoch,
    };
  }

  /** Not waited for: a key works also when nobody can note its use. */
  #noteUse(use: Use): void {
    this.#uses.add(use).catch((error: unknown) => {
      this.#options.log.warn({ err: error, keyId: use.id }, 'the use of an API key was not noted');
    });
  }
}

/** A user's key speaks as its user, a service's key as its service. */
function subjectOf({ kind, owner_id, service }: ApiKeyRow): string {
  return kind === 'user' ? owner_id : service;
}

/** Why a key gives no token; says what is wrong only to who has its secret. */
function flawOf(attempt: {
  readonly key: ApiKeyRow | undefined;
  readonly user: UserRow | undefined;
  readonly use: SecretUse | undefined;
  readonly now: Date;
}): string | undefined {
  const { key, user, use, now } = attempt;
  if (!key || !use) return 'api_key_invalid';
  if (key.revoked_at) return 'api_key_revoked';
  if (key.expires_at && key.expires_at <= now) return 'api_key_expired';
  return key.kind === 'user' && (!user || user.disabled) ? 'user_disabled' : undefined;
}

/** Which of its secrets a key was used with. */
interface SecretUse {
  readonly sessionId: string;
  /** When the secret ends before its key; null when it does not. */
  readonly expiresAt: Date | null;
}

type KeySecrets = Pick<ApiKeyRow, 'id' | 'hash' | 'former_secrets'>;

/** What stands for a key that there is not: its hash is random, so that no secret has it. */
const noKey: KeySecrets = {
  id: '',
  hash: hashApiKeySecret(newApiKeySecret()),
  former_secrets: [],
};

/** Undefined for what is no secret of the key, or no longer. */
function findSecret(key: KeySecrets, secret: string, now: Date): SecretUse | undefined {
  const { id, hash, former_secrets: former } = key;
  if (isSecretOf(hash, secret)) return { sessionId: secretSessionId(id, hash), expiresAt: null };
  for (const one of former) {
    const expiresAt = new Date(one.expiresAt);
    const formerHash = Buffer.from(one.hash, 'hex');
    if (expiresAt <= now || !isSecretOf(formerHash, secret)) continue;
    return { sessionId: secretSessionId(id, formerHash), expiresAt };
  }
  return undefined;
}

/** Seconds: no token outlives what it was traded for. */
function lifeOf(ends: readonly (Date | null)[], now: Date): number {
  const left = ends.flatMap((end) =>
    end ? [Math.ceil((end.getTime() - now.getTime()) / 1000)] : [],
  );
  return Math.min(accessLifeSeconds, ...left);
}

function refusal(reason: string): Fault {
  return new Fault('unauthenticated', 'the API key is not valid', {
    reason: 'invalid_api_key',
    detail: { reason },
  });
}
