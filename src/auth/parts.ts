import { RevocationFeed } from '../kit/identity/revocation-feed.ts';
import type { Revocation } from '../kit/identity/revocations.ts';
import { Verifier } from '../kit/identity/verifier.ts';
import type { Host } from '../kit/service.ts';
import { ApiKeyLogin } from './api-keys/api-key-login.ts';
import { ApiKeys } from './api-keys/api-keys.ts';
import { suiteOwner } from './api-keys/service-identities.ts';
import { Limits } from './limits/limits.ts';
import { AuditLog } from './audit/audit.ts';
import { CheckpointKey } from './audit/checkpoint-key.ts';
import type { AuthConfig } from './config.ts';
import { groupMappingTopic, revocationTopic, signingKeyTopic } from './contract.ts';
import { openKeyring, type Keyring } from './keys/keyring.ts';
import type { Sealer } from '../kit/secrets/sealing.ts';
import { SigningKeys, type KeyChange } from './keys/signing-keys.ts';
import { OwnPassword } from './accounts/own-password.ts';
import { PasswordLogin } from './accounts/password-login.ts';
import { Passwords } from './accounts/passwords.ts';
import { OAuth } from './oauth/oauth.ts';
import { Revoker } from './tokens/revoker.ts';
import { GroupMappings, type MappingsChanged } from './roles/group-mappings.ts';
import { LiveRoleTable } from './roles/roles.ts';
import { SecondFactor } from './second-factor/second-factor.ts';
import { Grace } from './sessions/grace.ts';
import { readLastEventAt } from './sessions/grace-store.ts';
import { SessionList } from './sessions/session-list.ts';
import { Sessions } from './sessions/sessions.ts';
import type { AuthTables, Sql } from './tables.ts';
import { Introspection } from './tokens/introspection.ts';
import { TokenRevocation } from './tokens/token-revocation.ts';
import { TokenMint } from './tokens/tokens.ts';
import { Users } from './accounts/users.ts';
import { Validation } from './tokens/validation.ts';

/** The service's parts, put together. */
export interface AuthParts {
  readonly host: Host<AuthConfig>;
  readonly config: AuthConfig;
  readonly sql: Sql;
  readonly keyring: Keyring;
  readonly signingKeys: SigningKeys;
  readonly mint: TokenMint;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
  /** What other replicas revoke, from the bus and from their common database. */
  readonly feed: RevocationFeed;
  readonly verifier: Verifier;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly oauth: OAuth;
  readonly passwordLogin: PasswordLogin;
  readonly apiKeyLogin: ApiKeyLogin;
  readonly apiKeys: ApiKeys;
  readonly users: Users;
  readonly groupMappings: GroupMappings;
  readonly sessionList: SessionList;
  readonly ownPassword: OwnPassword;
  readonly secondFactor: SecondFactor;
  readonly introspection: Introspection;
  readonly tokenRevocation: TokenRevocation;
  readonly validation: Validation;
  readonly limits: Limits;
}

/** Puts the service's parts together; rejects when the signing keys cannot be opened. */
export async function createParts(host: Host<AuthConfig>): Promise<AuthParts> {
  const { config, log, revocations } = host;
  const sql = host.database.kysely<AuthTables>('auth');
  const grace = new Grace(await readLastEventAt(sql));
  const [keyring, roles, passwords] = await Promise.all([
    openKeyring({ sql, dataFolder: host.dataFolder, revocations, log }),
    LiveRoleTable.open(sql),
    Passwords.create(),
  ]);
  const issuer = host.url;
  const mint = new TokenMint({ issuer, keyring });
  const checkpointKey = new CheckpointKey(keyring.sealer, host.dataFolder);
  const audit = new AuditLog({ sql, checkpointKey, log });
  const { revoker, feed, verifier } = createTrust(host, sql, keyring);
  const rate = { attempts: config.refreshesPerHour, windowSeconds: 3600 };
  const sessions = new Sessions({ sql, mint, roles, audit, revoker, grace, rate });
  const limits = new Limits({ sql, log, config });
  const { sealer } = keyring;
  const common = { sql, audit, revoker, roles, passwords, limits, sessions, sealer };
  const accounts = createAccountParts(host, common);
  return {
    host,
    config,
    oauth: new OAuth({ host, sql, sealer, audit, sessions, mint, revoker }),
    sql,
    keyring,
    signingKeys: new SigningKeys({
      sql,
      keyring,
      revoker,
      audit,
      topic: host.bus.topic<KeyChange>(signingKeyTopic),
      rotationDays: config.keyRotationDays,
      rereadMs: host.database.dialect === 'postgres' ? config.keyRereadSeconds * 1000 : 0,
      log,
    }),
    mint,
    audit,
    revoker,
    feed,
    verifier,
    passwords,
    sessions,
    apiKeyLogin: new ApiKeyLogin({ sql, mint, roles, audit, log }),
    apiKeys: new ApiKeys({
      sql,
      roles,
      audit,
      revoker,
      reservedNames: [suiteOwner, ...host.peers.map(({ name }) => name)],
    }),
    users: new Users({ sql, passwords, roles, audit, revoker }),
    ...accounts,
    introspection: new Introspection({ sql, verifier, mint, roles }),
    tokenRevocation: new TokenRevocation({ sql, verifier, mint, sessions, revoker, audit }),
    validation: new Validation(verifier, audit),
    limits,
  };
}

/** What this replica revokes, what it learns of the others, and whom it trusts after both. */
function createTrust(host: Host<AuthConfig>, sql: Sql, keyring: Keyring) {
  const { revocations, log } = host;
  const topic = host.bus.topic<Revocation>(revocationTopic);
  const revoker = new Revoker({ sql, list: revocations, topic, log });
  const fetchPage = (after: number) => revoker.read(after);
  const feed = new RevocationFeed({ list: revocations, topic, fetchPage, log });
  const verifier = new Verifier({
    issuer: host.url,
    keys: keyring.findKey,
    revocations,
  });
  return { revoker, feed, verifier };
}

interface CommonParts {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
  readonly roles: LiveRoleTable;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly sessions: Sessions;
  readonly sealer: Sealer;
}

/** How users log in, what they do for themselves, and what groups give. */
function createAccountParts({ bus, config, log }: Host<AuthConfig>, common: CommonParts) {
  const attempts = { attempts: config.loginAttempts, windowSeconds: 15 * 60 };
  const limit = common.limits.open('password check', attempts);
  const ownPassword = new OwnPassword({ ...common, limit });
  const topic = bus.topic<MappingsChanged>(groupMappingTopic);
  const secondFactor = new SecondFactor({ ...common, ownPassword });
  const { login } = common.limits;
  return {
    groupMappings: new GroupMappings({ ...common, topic, log }),
    passwordLogin: new PasswordLogin({ ...common, limits: login, secondFactor, log }),
    sessionList: new SessionList(common),
    ownPassword,
    secondFactor,
  };
}
