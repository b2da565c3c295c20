import { randomBytes, randomFillSync } from 'node:crypto';

/**
 * A new identifier: prefix, underscore, UUIDv7 (RFC 9562, section 5.7) as 32 hex digits.
 * Identifiers of one prefix sort by the millisecond in which they were made.
 */
export function newId(prefix: string): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `${prefix}_${bytes.toString('hex')}`;
}

/** Random bytes as base64url text, for secrets. 32 bytes unless told otherwise. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** Hands out random bytes as hex from a pool, because one system call per identifier is slow. */
export class HexPool {
  readonly #pool = Buffer.alloc(4096);
  #offset = this.#pool.length;

  /** `bytes` random bytes as lowercase hex; never all zero (W3C Trace Context, section 3.2.2.3). */
  next(bytes: number): string {
    if (this.#offset + bytes > this.#pool.length) {
      randomFillSync(this.#pool);
      this.#offset = 0;
    }
    const start = this.#offset;
    this.#offset += bytes;
    const hex = this.#pool.toString('hex', start, this.#offset);
    return /[^0]/.test(hex) ? hex : this.next(bytes);
  }
}
