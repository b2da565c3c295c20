import { calculateJwkThumbprint } from 'jose';
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import {
  offerSigningKey,
  readSigningKey,
  type PublicKeyJwk,
  type SigningKeySql,
  type StoredSigningKey,
} from './signing-key-store.ts';

export interface SigningKeyOptions {
  readonly sql: SigningKeySql;
  /** The suite's: its `secrets` folder holds the key files. */
  readonly dataFolder: string;
}

/** A JWS in its compact form (RFC 7515, section 7.1) and the signature that is in it. */
export interface SignedToken {
  readonly token: string;
  readonly signature: Buffer;
}

/** Signs what the mesh states. */
export interface TokenSigner {
  readonly jwk: PublicKeyJwk;
  /** The type says what kind of statement it is, so that none is taken for another (RFC 8725, 3.11). */
  sign(type: string, claims: object): SignedToken;
}

/**
 * Opens the key of the mesh, and makes it at the first start; all replicas of one database sign with
 * the same. Throws `conflict` when the key file that it was sealed under is missing or another.
 */
export async function openTokenSigner({
  sql,
  dataFolder,
}: SigningKeyOptions): Promise<TokenSigner> {
  const folder = join(dataFolder, 'secrets');
  const known = await readSigningKey(sql);
  const sealer = await openSealer({ folder, mayCreate: known === undefined });
  const { jwk, sealed } = known ?? (await settleKey(sql, sealer));
  const privateKey = createPrivateKey({
    key: sealer.unseal(sealed, contextOf(jwk.kid)),
    format: 'der',
    type: 'pkcs8',
  });
  return { jwk, sign: (type, claims) => signToken({ type, kid: jwk.kid, privateKey }, claims) };
}

async function settleKey(sql: SigningKeySql, sealer: Sealer): Promise<StoredSigningKey> {
  const offered = await createKey(sealer);
  await offerSigningKey(sql, offered);
  // Another replica may have been first.
  return (await readSigningKey(sql)) ?? offered;
}

async function createKey(sealer: Sealer): Promise<StoredSigningKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x });
  const jwk = { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' } as const;
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { kid, jwk, sealed: sealer.seal(der, contextOf(kid)) };
}

function contextOf(kid: string): string {
  return `mesh attestation key ${kid}`;
}

interface SigningOrder {
  readonly type: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
}

function signToken({ type, kid, privateKey }: SigningOrder, claims: object): SignedToken {
  const input = `${encode({ alg: 'EdDSA', typ: type, kid })}.${encode(claims)}`;
  const signature = sign(null, Buffer.from(input), privateKey);
  return { token: `${input}.${signature.toString('base64url')}`, signature };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
