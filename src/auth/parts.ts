import type { Revocation } from '../kit/identity/revocations.ts';
import { Verifier } from '../kit/identity/verifier.ts';
import type { Host } from '../kit/service.ts';
import { ApiKeyLogin } from './api-keys/api-key-login.ts';
import { ApiKeys } from './api-keys/api-keys.ts';
import { AttemptLimit } from './limits/attempt-limits.ts';
import { AuditLog } from './audit/audit.ts';
import type { AuthConfig } from './config.ts';
import { revocationTopic } from './contract.ts';
import { openKeyring, type Keyring } from './keys/keyring.ts';
import { PasswordLogin } from './accounts/password-login.ts';
import { Passwords } from './accounts/passwords.ts';
import { Revoker } from './tokens/revoker.ts';
import { readRoleTable } from './roles/roles.ts';
import { Sessions } from './sessions/sessions.ts';
import type { AuthTables, Sql } from './tables.ts';
import { TokenRevocation } from './tokens/token-revocation.ts';
import { TokenMint } from './tokens/tokens.ts';
import { Users } from './accounts/users.ts';
import { Validation } from './tokens/validation.ts';

/** How often what may be tried. */
export interface AttemptLimits {
  readonly loginByUsername: AttemptLimit;
  readonly loginByAddress: AttemptLimit;
  readonly refreshBySession: AttemptLimit;
  readonly validationByAddress: AttemptLimit;
}

/** The service's parts, put together. */
export interface AuthParts {
  readonly host: Host<AuthConfig>;
  readonly config: AuthConfig;
  readonly sql: Sql;
  readonly keyring: Keyring;
  readonly mint: TokenMint;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly passwordLogin: PasswordLogin;
  readonly apiKeyLogin: ApiKeyLogin;
  readonly apiKeys: ApiKeys;
  readonly users: Users;
  readonly tokenRevocation: TokenRevocation;
  readonly validation: Validation;
  readonly limits: AttemptLimits;
}

/** Puts the service's parts together; rejects when the signing keys cannot be opened. */
export async function createParts(host: Host<AuthConfig>): Promise<AuthParts> {
  const { config, log, revocations } = host;
  const sql = host.database.kysely<AuthTables>('auth');
  const [keyring, roles, passwords] = await Promise.all([
    openKeyring(sql, host.dataFolder),
    readRoleTable(sql),
    Passwords.create(),
  ]);
  const issuer = host.url;
  const mint = new TokenMint({ issuer, keyring, revocations });
  const verifier = new Verifier({ issuer, keys: keyring.findKey, revocations });
  const audit = new AuditLog(sql);
  const topic = host.bus.topic<Revocation>(revocationTopic);
  const revoker = new Revoker({ sql, list: revocations, topic, log });
  const sessions = new Sessions({ sql, mint, roles, audit, revoker });
  return {
    host,
    config,
    sql,
    keyring,
    mint,
    audit,
    revoker,
    passwords,
    sessions,
    passwordLogin: new PasswordLogin({ sql, passwords, sessions, audit }),
    apiKeyLogin: new ApiKeyLogin({ sql, mint, roles, audit, log }),
    apiKeys: new ApiKeys({
      sql,
      roles,
      audit,
      revoker,
      reservedNames: host.peers.map(({ name }) => name),
    }),
    users: new Users({ sql, passwords, roles, audit, revoker }),
    tokenRevocation: new TokenRevocation({ verifier, mint, sessions, revoker, audit }),
    validation: new Validation(verifier),
    limits: createLimits(config),
  };
}

function createLimits(config: AuthConfig): AttemptLimits {
  const login = { attempts: config.loginAttempts, windowSeconds: 15 * 60 };
  return {
    loginByUsername: new AttemptLimit(login),
    loginByAddress: new AttemptLimit(login),
    refreshBySession: new AttemptLimit({ attempts: config.refreshesPerHour, windowSeconds: 3600 }),
    validationByAddress: new AttemptLimit({
      attempts: config.validationsPerMinute,
      windowSeconds: 60,
    }),
  };
}
