import type { Generated, Kysely, Transaction } from 'kysely';

export interface UserRow {
  id: string;
  /** As it was entered; `username_key` is what must be unique. */
  username: string;
  username_key: string;
  email: string;
  name: string;
  /** Null for users who never log in with a password. */
  password_hash: string | null;
  roles: string[];
  /** At the provider when it last told, sorted; null when an administrator gave the roles. */
  groups: string[] | null;
  disabled: boolean;
  /** Of the access tokens: one more with each revocation of them all. */
  token_epoch: number;
  /** The identity provider that the user came through; absent for users made here. */
  provider?: string | null | undefined;
  created_at: Date;
  updated_at: Date;
  last_login_at: Date | null;
}

/** A login, with the refresh token that is good for it. */
export interface SessionRow {
  id: string;
  user_id: string;
  client_id: string;
  created_at: Date;
  /** Absolute: no refresh moves it. */
  expires_at: Date;
  revoked_at: Date | null;
  /** 0 for the login's token, one more with each rotation. */
  generation: number;
  /** SHA-256 of the token that is good. */
  token_hash: Buffer;
  /** The signing key that the good token goes by; null where that was never noted. */
  token_kid: string | null;
  token_issued_at: Date;
  /** SHA-256 of the token that gave way to it. */
  previous_hash: Buffer | null;
  /** The good token, for whoever shows the previous one. */
  sealed_token: Buffer | null;
  /** When the bucket of refreshes is full again. */
  refreshes_full_at: Generated<Date>;
}

export type ApiKeyKind = 'user' | 'service';

/** A secret that a key had before. */
export interface FormerSecret {
  /** Its SHA-256, in hexadecimal digits. */
  readonly hash: string;
  /** Until when it is good, ISO 8601. */
  readonly expiresAt: string;
}

export interface ApiKeyRow {
  id: string;
  name: string;
  service: string;
  kind: ApiKeyKind;
  /** A user's key acts for its owner; a service's key only names who is responsible for it. */
  owner_id: string;
  permissions: string[];
  /** SHA-256 of the secret. */
  hash: Buffer;
  /** The newest first. */
  former_secrets: readonly FormerSecret[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

export type SigningKeyState = 'pending' | 'active' | 'previous' | 'retired' | 'revoked';

export interface SigningKeyRow {
  kid: string;
  state: SigningKeyState;
  public_jwk: PublicJwk;
  /** Sealed; empty once the key signs no more. */
  private_key: string;
  created_at: Date;
  state_changed_at: Date;
}

/** The public half of a signing key (RFC 7517). */
export interface PublicJwk {
  readonly kty: 'RSA';
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly n: string;
  readonly e: string;
}

export interface RevocationRow {
  seq: Generated<number>;
  kind: 'token' | 'session' | 'subject' | 'key';
  id: string;
  /** Unix seconds. */
  revoked_at: number;
  /** Unix seconds. */
  expires_at: number;
  /** Whether it begins at `revoked_at` only. */
  planned: boolean;
  /** Of a subject: the first epoch whose tokens are good; null for one that gets none. */
  token_epoch: number | null;
}

export interface AuditRow {
  seq: number;
  event_type: string;
  user_id: string;
  occurred_at: Date;
  ip: string;
  user_agent: string;
  client_id: string;
  metadata: Readonly<Record<string, unknown>>;
  /** Of the event and all before it; null for those from before there was a chain. */
  hash: Buffer | null;
}

export interface AuditHeadRow {
  start_seq: number;
  seq: number;
  hash: Buffer;
}

export interface AuditCheckpointRow {
  seq: number;
  hash: Buffer;
  signature: string;
  created_at: Generated<Date>;
}

/** An event that its transaction appends to the log when it ends. */
export interface PendingAuditRow {
  id: Generated<number>;
  event_type: string;
  user_id: string;
  occurred_at: Date;
  ip: string;
  user_agent: string;
  client_id: string;
  metadata: string;
  digest: Buffer;
}

export interface AllowanceRow {
  key: string;
  full_at: Date;
}

export interface KnownAddressRow {
  user_id: string;
  address_key: string;
  last_seen_at: Date;
}

export interface GroupMappingRow {
  idp_group: string;
  platform_role: string;
  permissions: string[];
}

/** What is known of a provider, less its secret. */
export interface ProviderConfig {
  readonly authorizationURL: string;
  readonly tokenURL: string;
  readonly userInfoURL: string;
  readonly clientID: string;
  readonly callbackURL: string;
  readonly scopes: string;
  readonly issuer?: string;
  readonly jwksURL?: string;
  readonly groupsURL?: string;
  /** How the client names itself at the token address (RFC 6749, section 2.3.1); basic when absent. */
  readonly tokenAuthentication?: 'basic' | 'post';
  readonly idTokenAlgorithms?: readonly string[];
}

export interface OAuthProviderRow {
  name: string;
  config: ProviderConfig;
  client_secret: string;
  updated_at: Date;
}

export interface OAuthFlowRow {
  challenge: string;
  provider: string;
  redirect_uri: string;
  state: string;
  nonce: string;
  scope: string;
  client_id: string;
  /** Whether the caller named the redirect_uri, in place of the provider's own. */
  redirect_uri_given: boolean;
  /** Whether the caller named the nonce, so that an id_token repeats it. */
  nonce_given: boolean;
  /** How many codes were tried. */
  attempts: number;
  verifier: string | null;
  binding: Buffer | null;
  return_to: string | null;
  created_at: Date;
  expires_at: Date;
  consumed_at: Date | null;
  code_hash: Buffer | null;
  session_id: string | null;
  replayed_at: Date | null;
}

export interface IdentityRow {
  /** Who vouches for the subject: see `authorityOf`. */
  issuer: string;
  subject: string;
  user_id: string;
  provider: string;
  /** Null once the provider has taken its grant back. */
  access_token: string | null;
  refresh_token: string | null;
  token_type: string;
  scope: string;
  issued_at: Date;
  expires_at: Date | null;
  token_version: number;
  lease_until: Date | null;
  /** True until an identity of before has got the key of its provider. */
  keyed_by_origin: boolean;
}

export interface SecondFactorRow {
  user_id: string;
  secret: string;
  created_at: Date;
  /** Null until a first code was shown. */
  enabled_at: Date | null;
  last_step: number;
  attempts: number;
  attempts_since: Date;
}

export interface RecoveryCodeRow {
  user_id: string;
  /** SHA-256 of the code. */
  hash: Buffer;
}

/** The tables of the schema `auth`. */
export interface AuthTables {
  users: UserRow;
  sessions: SessionRow;
  api_keys: ApiKeyRow;
  signing_keys: SigningKeyRow;
  revocations: RevocationRow;
  audit: AuditRow;
  audit_head: AuditHeadRow;
  audit_checkpoints: AuditCheckpointRow;
  audit_pending: PendingAuditRow;
  allowances: AllowanceRow;
  known_addresses: KnownAddressRow;
  group_mappings: GroupMappingRow;
  second_factors: SecondFactorRow;
  recovery_codes: RecoveryCodeRow;
  oauth_providers: OAuthProviderRow;
  oauth_flows: OAuthFlowRow;
  identities: IdentityRow;
}

/** Where statements run: the database, or a transaction on it. */
export type Sql = Kysely<AuthTables>;

/** A transaction: what runs on it happens wholly or not at all. */
export type SqlTransaction = Transaction<AuthTables>;
