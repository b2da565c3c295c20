import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import type { PublicJwk } from '../tables.ts';

/** The one algorithm that the suite signs with (RFC 7518, section 3.3). */
export const signingAlgorithm = 'RS256';

const modulusLength = 2048;

/** Both halves of a new signing key, not yet sealed nor stored. */
export interface KeyMaterial {
  readonly jwk: PublicJwk;
  /** PKCS #8. */
  readonly pem: Buffer;
}

/** Makes a key off the main thread; its id is its thumbprint (RFC 7638). Takes about 100 ms. */
export async function createKeyMaterial(): Promise<KeyMaterial> {
  const pair = await generateKeyPair(signingAlgorithm, { modulusLength, extractable: true });
  const { n = '', e = '' } = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n, e });
  const pem = Buffer.from(await exportPKCS8(pair.privateKey));
  return { jwk: { kty: 'RSA', kid, use: 'sig', alg: signingAlgorithm, n, e }, pem };
}

/** False for what can be no key id of this service, whatever the database holds. */
export function isKeyId(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
