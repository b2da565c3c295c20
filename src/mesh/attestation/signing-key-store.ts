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

/** A key as it is stored; the generations count from 1. */
export interface SigningKeyRow {
  readonly generation: number;
  readonly kid: string;
  readonly public_jwk: PublicKeyJwk;
  /** PKCS #8, sealed. */
  readonly private_key: string;
  readonly signs_from: Date;
  /** Null for the newest. */
  readonly published_until: Date | null;
}

/** All keys that are published at a time, the newest first. */
export function readSigningKeys(sql: SigningKeySql, now: Date): Promise<SigningKeyRow[]> {
  return sql.query<SigningKeyRow>(
    `select generation, kid, public_jwk, private_key, signs_from, published_until
     from mesh.attestation_keys
     where published_until is null or published_until > $1::timestamptz
     order by generation desc`,
    [now],
  );
}

/** By the database, whatever this process has read of the keys before. */
export async function isKeyPublished(sql: SigningKeySql, kid: string, now: Date): Promise<boolean> {
  const rows = await sql.query(
    `select kid from mesh.attestation_keys
     where kid = $1 and (published_until is null or published_until > $2::timestamptz)`,
    [kid, now],
  );
  return rows.length > 0;
}

/**
 * Stores a key, and how long those before it stay published, unless another replica stored one of this
 * generation first.
 */
export async function insertSigningKey(
  sql: SigningKeySql,
  key: SigningKeyRow,
  earlierUntil: Date,
): Promise<void> {
  await sql.query(
    `with made as (
       insert into mesh.attestation_keys
         (generation, kid, public_jwk, private_key, signs_from)
       values ($1, $2, $3::jsonb, $4, $5::timestamptz)
       on conflict (generation) do nothing returning generation
     )
     update mesh.attestation_keys
     set published_until = least(published_until, $6::timestamptz)
     where generation < $1 and exists (select 1 from made)`,
    [key.generation, key.kid, key.public_jwk, key.private_key, key.signs_from, earlierUntil],
  );
}

/** Erases the keys that are published no more. */
export async function deleteEndedKeys(sql: SigningKeySql, now: Date): Promise<void> {
  await sql.query('delete from mesh.attestation_keys where published_until <= $1::timestamptz', [
    now,
  ]);
}
