/**
 * A bit for each service and each operation of a trace, 52 in all so that it is exact as a number (a
 * Bloom filter with one hash, Bloom 1970). What a trace's signature lacks, the trace lacks; what it
 * has may still be another's bit.
 */
export interface Signature {
  /** 32 bits and 20 bits. */
  readonly low: number;
  readonly high: number;
}

const bitCount = 52;

/** The bits of an operation, or of a service alone. */
export function signatureOf(service: string, operation?: string): Signature {
  const own = bitOf(hash(0, service));
  if (operation === undefined) return own;
  const other = bitOf(hash(hash(1, service), operation));
  return { low: own.low | other.low, high: own.high | other.high };
}

/** As the database keeps it. */
export function asNumber({ low, high }: Signature): number {
  return high * 2 ** 32 + (low >>> 0);
}

function bitOf(value: number): Signature {
  const bit = value % bitCount;
  return bit < 32 ? { low: 1 << bit, high: 0 } : { low: 0, high: 1 << (bit - 32) };
}

/** FNV-1a (Fowler, Noll, Vo), over UTF-16 code units. */
function hash(seed: number, text: string): number {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}
