import { randomBytes } from 'node:crypto';

/** Of ristretto255 (RFC 9496, section 4): 2^252 + 27742317777372353535851937790883648493. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

/** A new secret key as `schnorr.ts` reads it; apart from that, for the curve takes long to load. */
export function createSecretKey(): string {
  for (;;) {
    const bytes = randomBytes(32);
    bytes.writeUInt8(bytes.readUInt8(31) & 0x1f, 31);
    const value = BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`);
    if (value > 0n && value < order) return `0x${bytes.toString('hex')}`;
  }
}
