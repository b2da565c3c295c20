/** A 32-bit hash of a text (FNV-1a), the same on every replica and machine. */
export function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93);
  }
  return hash >>> 0;
}

/** Two hashes mixed to a number above 0 and below 1 (the finaliser of MurmurHash3). */
export function mix(one: number, other: number): number {
  let hash = one ^ Math.imul(other, 0x9e_37_79_b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) + 0.5) / 2 ** 32;
}
