const slotCount = 4_096;
const internedLength = 64;
const nul = /\0/g;

/**
 * Turns bytes into text, handing out the same string for the same bytes where it can: names and
 * services repeat in every span. Keeps at most 4,096 texts of at most 64 bytes, the latest of each
 * slot.
 */
export class Interner {
  readonly #texts: string[] = [];
  readonly #lengths = new Uint8Array(slotCount);
  /** The bytes of each slot's text. */
  readonly #known = new Uint8Array(slotCount * internedLength);

  constructor() {
    this.#texts.length = slotCount;
  }

  /** What is no UTF-8, and NUL, which PostgreSQL refuses in texts, becomes U+FFFD. */
  text(bytes: Buffer, from: number, end: number): string {
    const length = end - from;
    if (length > internedLength) return decoded(bytes, from, end);
    const slot = slotOf(bytes, from, end);
    if (this.#lengths[slot] === length && this.#isKnown(slot, bytes, from))
      return this.#texts[slot] ?? '';
    const text = decoded(bytes, from, end);
    this.#texts[slot] = text;
    this.#lengths[slot] = length;
    for (let at = 0; at < length; at += 1)
      this.#known[slot * internedLength + at] = bytes[from + at] ?? 0;
    return text;
  }

  #isKnown(slot: number, bytes: Buffer, from: number): boolean {
    const known = this.#known;
    const start = slot * internedLength;
    const length = this.#lengths[slot] ?? 0;
    for (let at = 0; at < length; at += 1) if (known[start + at] !== bytes[from + at]) return false;
    return true;
  }
}

/** Takes four bytes a step: a multiplication for each would be most of the work. */
function slotOf(bytes: Buffer, from: number, end: number): number {
  let hash = end - from;
  let at = from;
  for (; at + 4 <= end; at += 4) {
    const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
    const high = ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    hash = Math.imul(hash ^ low ^ high, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x9e3779b1);
  return (hash ^ (hash >>> 16)) & (slotCount - 1);
}

function decoded(bytes: Buffer, from: number, end: number): string {
  return bytes.toString('utf8', from, end).replace(nul, '\uFFFD');
}
