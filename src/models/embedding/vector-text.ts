/** A vector as base64 of its 32-bit floats, little-endian where this machine is. */
export function toVectorText({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** The vector of such a text. */
export function ofVectorText(text: string): Float32Array {
  // Copied: the bytes of a small Buffer need not begin where a float may.
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return new Float32Array(bytes.buffer);
}
