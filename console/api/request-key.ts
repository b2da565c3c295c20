/**
 * The headers of a request that is done once however often it arrives: browsers send one again by
 * themselves when its connection breaks before the answer.
 */
export function onceOnly(): { readonly 'idempotency-key': string } {
  // `randomUUID` is there only where a page is secure.
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return { 'idempotency-key': bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('') };
}
