import { createSecretKey, type KeyObject } from 'node:crypto';
import { keyFileOf, type Sealer } from '../../kit/secrets/sealing.ts';
import type { SigningKeyRow } from '../tables.ts';

type SealedKey = Pick<SigningKeyRow, 'kid' | 'private_key'>;

/**
 * The secrets that go with a signing key, by the ids that tokens name them by. They come and go with
 * it, and every replica derives the same ones: that of the key file it was sealed under, or of each
 * file once its private half is gone and nothing says which that was.
 */
export function secretsOf(row: SealedKey, sealer: Sealer): [string, KeyObject][] {
  const derived = [...sealer.deriveKeys(`refresh tokens ${row.kid}`)];
  const isFrom = (file: string) => row.private_key === '' || file === keyFileOf(row.private_key);
  return derived
    .filter(([file]) => isFrom(file))
    .map(([file, bytes]) => [secretIdOf(row.kid, file), createSecretKey(bytes)]);
}

/** The id of the secret that goes with a key that signs: whoever can sign can derive it. */
export function currentSecretId({ kid, private_key }: SealedKey): string {
  return secretIdOf(kid, keyFileOf(private_key));
}

/** The id of the signing key that a key or secret goes with. */
export function signingKeyOf(id: string): string {
  return id.split('.', 1)[0] ?? '';
}

function secretIdOf(kid: string, file: string): string {
  return `${kid}.${file}`;
}
