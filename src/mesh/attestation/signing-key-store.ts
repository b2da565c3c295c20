import type { Database } from '../../kit/database/database.ts';

export type SigningKeySql = Pick<Database, 'query'>;

/** An Ed25519 key (RFC 8037, section 2) as verifiers get it. */
export interface PublicKeyJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

export interface StoredSigningKey {
  readonly kid: string;
  readonly jwk: PublicKeyJwk;
  /** PKCS #8, sealed. */
  readonly sealed: string;
}

interface SigningKeyRow {
  readonly kid: string;
  readonly public_jwk: PublicKeyJwk;
  readonly private_key: string;
}

export async function readSigningKey(sql: SigningKeySql): Promise<StoredSigningKey | undefined> {
  const [row] = await sql.query<SigningKeyRow>(
    'select kid, public_jwk, private_key from mesh.attestation_keys',
  );
  return row && { kid: row.kid, jwk: row.public_jwk, sealed: row.private_key };
}

/** Stores a key unless there is one: the first of several replicas decides. */
export async function offerSigningKey(
  sql: SigningKeySql,
  { kid, jwk, sealed }: StoredSigningKey,
): Promise<void> {
  await sql.query(
    `insert into mesh.attestation_keys (kid, public_jwk, private_key, created_at)
     values ($1, $2::jsonb, $3, now()) on conflict do nothing`,
    [kid, jwk, sealed],
  );
}
