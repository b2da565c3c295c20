/**
 * Signatures of thoughts travel through clients and come back, perhaps to another provider, which
 * would refuse a request with a signature that is not its own. Anthropic's stay as they are, for its
 * bytes pass through; all others carry their dialect's name in front, and no base64 has a colon.
 */
const marked = /^([a-z]+):/;

export function markSignature(dialect: string, signature: string): string {
  return `${dialect}:${signature}`;
}

/** The signature as its provider wrote it, if it is of that dialect. */
export function signatureOf(dialect: string, signature: string | undefined): string | undefined {
  if (!signature) return undefined;
  const owner = marked.exec(signature)?.[1] ?? 'anthropic';
  if (owner !== dialect) return undefined;
  return owner === 'anthropic' ? signature : signature.slice(owner.length + 1);
}

/** The same of a call, which only Google signs: one without a mark was made by Google as well. */
export function callSignatureOf(
  dialect: string,
  signature: string | undefined,
): string | undefined {
  if (!signature || !marked.test(signature)) return signature;
  return signatureOf(dialect, signature);
}
