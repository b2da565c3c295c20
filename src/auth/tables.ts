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
  disabled: boolean;
  created_at: Date;
  updated_at: Date;
  last_login_at: Date | null;
}

export interface SessionRow {
  id: string;
  user_id: string;
  client_id: string;
  created_at: Date;
  /** Absolute: no refresh moves it. */
  expires_at: Date;
  revoked_at: Date | null;
}

export interface RefreshTokenRow {
  /** SHA-256 of the token. */
  hash: Buffer;
  session_id: string;
  /** 0 for the login's token, one more with each rotation. */
  generation: number;
  issued_at: Date;
  consumed_at: Date | null;
  successor: Buffer | null;
}

export type ApiKeyKind = 'user' | 'service';

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
  previous_hash: Buffer | null;
  previous_expires_at: Date | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

export type SigningKeyState = 'pending' | 'active' | 'previous' | 'retired';

export interface SigningKeyRow {
  kid: string;
  state: SigningKeyState;
  public_jwk: PublicJwk;
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
}

export interface AuditRow {
  seq: Generated<number>;
  event_type: string;
  user_id: string;
  occurred_at: Date;
  ip: string;
  user_agent: string;
  client_id: string;
  metadata: Readonly<Record<string, unknown>>;
}

export interface GroupMappingRow {
  idp_group: string;
  platform_role: string;
  permissions: string[];
}

/** The tables of the schema `auth`. */
export interface AuthTables {
  users: UserRow;
  sessions: SessionRow;
  refresh_tokens: RefreshTokenRow;
  api_keys: ApiKeyRow;
  signing_keys: SigningKeyRow;
  revocations: RevocationRow;
  audit: AuditRow;
  group_mappings: GroupMappingRow;
}

/** Where statements run: the database, or a transaction on it. */
export type Sql = Kysely<AuthTables>;

/** A transaction: what runs on it happens wholly or not at all. */
export type SqlTransaction = Transaction<AuthTables>;
