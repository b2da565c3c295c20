import { createHash } from 'node:crypto';
import { statusListPath, statusListSize } from './addresses.ts';
import { validityMs, type Attestation } from './attestation.ts';
import type { Proof } from './schnorr.ts';
import type { SignedToken, TokenKey, TokenSigner } from './signing-key.ts';

/** Who signs, and under which name. */
export interface Issuer {
  readonly signer: TokenSigner;
  /** The mesh's own address: `iss`, and the beginning of every `status.uri`. */
  readonly url: string;
}

/** An answer of `attest` that attests nothing. */
export interface Refused {
  readonly attestationId: string;
  readonly agentId: string;
  readonly capability: string;
  readonly atMs: number;
}

/** The attestation as others can verify it without asking: by the key set and the status list. */
export function signAttestation(
  { key, url }: { readonly key: TokenKey; readonly url: string },
  attestation: Attestation,
  proof: Proof,
): SignedToken {
  const { attestationId, agentId, capability, statusIndex, verifiedAtMs } = attestation;
  const place = {
    idx: statusIndex % statusListSize,
    uri: `${url}${statusListPath}/${Math.floor(statusIndex / statusListSize)}`,
  };
  return key.sign('acap+jwt', {
    iss: url,
    sub: agentId,
    cap: capability,
    verified: true,
    cnf: { kid: keyIdOf(attestation.publicKey) },
    proofHash: hashOf(proof),
    iat: seconds(verifiedAtMs),
    exp: seconds(verifiedAtMs + validityMs),
    jti: attestationId,
    // As Token Status List has it, and as the short form.
    status: { ...place, status_list: place },
  });
}

/** Says that nothing is attested: of another type, and expired ever since, whoever checks it how. */
export function signRefusal({ signer, url }: Issuer, refused: Refused): SignedToken {
  const { attestationId, agentId, capability, atMs } = refused;
  return signer.key.sign('acap-refusal+jwt', {
    iss: url,
    sub: agentId,
    cap: capability,
    verified: false,
    iat: seconds(atMs),
    exp: 1,
    jti: attestationId,
  });
}

/** The name of an agent's key: the first 16 bytes of its SHA-256, as hex. */
export function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(bytesOf(publicKey)).digest('hex').slice(0, 32);
}

/** Of commitment, challenge and response, 32 bytes each. */
function hashOf({ commitment, challenge, response }: Proof): string {
  const bytes = [commitment, challenge, response].map(bytesOf);
  return createHash('sha256').update(Buffer.concat(bytes)).digest('base64url');
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
