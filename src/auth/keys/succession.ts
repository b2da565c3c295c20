import type { SigningKeyState, SqlTransaction } from '../tables.ts';
import { createKeyMaterial, type KeyMaterial } from './key-material.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { activateKey, findKeyInState, insertSigningKey } from './signing-key-store.ts';

export interface SuccessionOptions {
  readonly sealer: Sealer;
  /** Made before the transaction, for making a key takes long; one that is missing is made in it. */
  readonly spares: readonly KeyMaterial[];
}

/**
 * Sees to it that one key signs and one waits in the key set to be the next; answers the id of the
 * one that signs. The caller holds the lock of the signing keys.
 */
export async function ensureSuccession(
  trx: SqlTransaction,
  { sealer, spares }: SuccessionOptions,
): Promise<string> {
  const left = [...spares];
  const insert = async (state: SigningKeyState) => {
    const { jwk, pem } = left.shift() ?? (await createKeyMaterial());
    const now = new Date();
    await insertSigningKey(trx, {
      kid: jwk.kid,
      state,
      public_jwk: jwk,
      private_key: sealer.seal(pem, jwk.kid),
      created_at: now,
      state_changed_at: now,
    });
    return jwk.kid;
  };
  const active = await findKeyInState(trx, 'active');
  const pending = await findKeyInState(trx, 'pending');
  if (!active && pending) await activateKey(trx, pending.kid);
  const activeKid = active?.kid ?? pending?.kid ?? (await insert('active'));
  if (!pending || pending.kid === activeKid) await insert('pending');
  return activeKid;
}
