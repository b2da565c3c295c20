import { randomBytes, randomFillSync, randomUUID } from 'node:crypto';

/**
 * A new identifier: prefix, underscore, UUIDv7 (RFC 9562, section 5.7) as 32 hex digits.
 * Identifiers of one prefix sort by the millisecond in which they were made.
 */
export function newId(prefix: string): string {
  const time = Date.now().toString(16).padStart(12, '0');
  // Of version 4: its random digits and its variant are those of version 7 too.
  const uuid = randomUUID();
  return `${prefix}_${time}7${uuid.slice(15, 18)}${uuid.slice(19, 23)}${uuid.slice(24)}`;
}

/** Random bytes as base64url text, for secrets. 32 bytes unless told otherwise. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

const poolBytes = 4096;

/** Hands out random bytes as hex from a pool, because a system call for each identifier is slow. */
export class HexPool {
  readonly #bytes = Buffer.alloc(poolBytes);
  #hex = '';
  #offset = 0;

  /** `bytes` random bytes as lowercase hex; never all zero (W3C Trace Context, section 3.2.2.3). */
  next(bytes: number): string {
    const end = this.#offset + bytes * 2;
    if (end > this.#hex.length) {
      this.#hex = randomFillSync(this.#bytes).toString('hex');
      this.#offset = 0;
      return this.next(bytes);
    }
    const hex = this.#hex.slice(this.#offset, end);
    this.#offset = end;
    return isZero(hex) ? this.next(bytes) : hex;
  }
}

/** Most texts tell by their first digit. */
function isZero(hex: string): boolean {
  return hex.startsWith('0') && /^0*$/.test(hex);
}
