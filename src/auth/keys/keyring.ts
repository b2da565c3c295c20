import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  SignJWT,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { openSealer, type Sealer } from './sealing.ts';
import { insertSigningKey, listSigningKeys } from './signing-key-store.ts';
import { inTransaction, lock } from '../store.ts';
import type { PublicJwk, SigningKeyRow, Sql, SqlTransaction } from '../tables.ts';

const algorithm = 'RS256';
const modulusLength = 2048;

/** The suite's signing keys: one signs, all that may still have good tokens verify. */
export interface Keyring {
  /** The `kid` of the key that signs. */
  readonly activeKeyId: string;
  /** What `/.well-known/jwks.json` shows. */
  readonly keys: readonly PublicJwk[];
  /** Changes with the keys. */
  readonly etag: string;
  /** The public key that a token's header names. */
  readonly findKey: JWTVerifyGetKey;
  /** Signs claims as a JWT (RFC 7519) off the main thread. */
  sign(claims: JWTPayload): Promise<string>;
}

/**
 * Opens the signing keys, making the first one when there is none. Refuses with `conflict` when the
 * key file in the data folder is missing or is not the one that the keys were sealed with: new keys
 * in place of unreadable ones would silently end every session.
 */
export async function openKeyring(sql: Sql, dataFolder: string): Promise<Keyring> {
  const folder = join(dataFolder, 'secrets');
  return inTransaction(sql, async (trx) => {
    await lock(trx, 'signing keys');
    const stored = await listSigningKeys(trx);
    const sealer = await openSealer({ folder, mayCreate: stored.length === 0 });
    const rows = stored.length === 0 ? [await createSigningKey(trx, sealer)] : stored;
    return loadKeyring(rows, sealer);
  });
}

async function loadKeyring(rows: readonly SigningKeyRow[], sealer: Sealer): Promise<Keyring> {
  const active = rows.find(({ state }) => state === 'active');
  if (!active) throw new Fault('conflict', 'the database holds signing keys but none is active');
  const pem = sealer.unseal(active.private_key, active.kid).toString();
  const privateKey = await importPKCS8(pem, algorithm);
  const keys = rows.map(({ public_jwk }) => public_jwk);
  const header = { alg: algorithm, typ: 'JWT', kid: active.kid };
  return {
    activeKeyId: active.kid,
    keys,
    etag: `"${createHash('sha256').update(JSON.stringify(keys)).digest('base64url')}"`,
    findKey: createLocalJWKSet({ keys: [...keys] }),
    sign: (claims) => new SignJWT(claims).setProtectedHeader(header).sign(privateKey),
  };
}

async function createSigningKey(trx: SqlTransaction, sealer: Sealer): Promise<SigningKeyRow> {
  const pair = await generateKeyPair(algorithm, { modulusLength, extractable: true });
  const { n = '', e = '' } = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n, e });
  const pem = Buffer.from(await exportPKCS8(pair.privateKey));
  const now = new Date();
  const row: SigningKeyRow = {
    kid,
    state: 'active',
    public_jwk: { kty: 'RSA', kid, use: 'sig', alg: algorithm, n, e },
    private_key: sealer.seal(pem, kid),
    created_at: now,
    state_changed_at: now,
  };
  await insertSigningKey(trx, row);
  return row;
}
