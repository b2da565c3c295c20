/** What proves a thought, or a call, to the provider that wrote it. */
export interface Proof {
  readonly signature?: string | undefined;
  readonly redacted?: string | undefined;
  /** The call that the signature belongs to; a thought's own when absent. */
  readonly call?: string | undefined;
}

const mark = 'ennead.';

/** A proof as `encrypted_content` of a reasoning item, which clients hand back as it is. */
export function writeProof(proof: Proof): string | null {
  if (proof.signature === undefined && proof.redacted === undefined) return null;
  return mark + Buffer.from(JSON.stringify(proof)).toString('base64url');
}

/**
 * The proof in an `encrypted_content`. One that was not written here is OpenAI's own: it is kept
 * under a name that no dialect takes for its own.
 */
export function readProof(content: string): Proof {
  if (!content.startsWith(mark)) return { redacted: `responses:${content}` };
  try {
    const proof: unknown = JSON.parse(
      Buffer.from(content.slice(mark.length), 'base64url').toString(),
    );
    return typeof proof === 'object' && proof !== null ? onlyTexts(proof) : {};
  } catch {
    return {};
  }
}

function onlyTexts(proof: object): Proof {
  const texts = Object.entries(proof).filter(([, value]) => typeof value === 'string');
  const { signature, redacted, call } = Object.fromEntries(texts) as Record<string, string>;
  return { signature, redacted, call };
}
