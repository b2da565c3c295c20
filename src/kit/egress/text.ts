/**
 * The text of a body in the charset that its `content-type` names (WHATWG Encoding), in UTF-8 where it
 * names none or one that nobody knows; without a byte order mark.
 */
export function decodeText(body: Buffer, contentType: string | null): string {
  return createDecoder(contentType).decode(body);
}

function createDecoder(contentType: string | null): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
