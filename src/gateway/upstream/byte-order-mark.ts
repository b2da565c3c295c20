const mark = Buffer.from('\u{FEFF}');

/** The bytes of a text without U+FEFF in front, which tells nothing where all is UTF-8. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes;
}
