import { flattenedVerify, importJWK, type JWK } from 'jose';
import type { PublicJwk } from './agent-row.ts';
import { canonicalJson } from './canonical-json.ts';

/** An agent card as JSON, not yet looked into. */
export type CardJson = Readonly<Record<string, unknown>>;

const signaturesMax = 10;
/** An RSA key of 8,192 bits fits. */
const keyLengthMax = 2_048;
const algorithms = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512', 'RS256', 'PS256'];

/**
 * Whether one of the keys has signed the card: JWS (RFC 7515) over its canonical JSON without
 * `signatures` (A2A 1.0, section 8.4). A key is chosen by `kid` where both sides name one; addresses
 * of keys that the card itself gives (`jku`) mean nothing.
 */
export async function isCardSigned(card: CardJson, keys: readonly PublicJwk[]): Promise<boolean> {
  const { signatures, ...rest } = card;
  if (!Array.isArray(signatures)) return false;
  // Signers leave out what has its default value; some do not.
  const payloads = new Set([canonicalJson(rest), canonicalJson(withoutDefaults(rest) ?? {})]);
  for (const signature of signatures.slice(0, signaturesMax)) {
    for (const key of keys) {
      for (const payload of payloads) {
        if (await holds(signature, payload, key)) return true;
      }
    }
  }
  return false;
}

/** What may be pinned: a public key of an algorithm that is checked here. */
export function isPublicSigningKey(key: PublicJwk): boolean {
  const isPublic = ['EC', 'OKP', 'RSA'].includes(key.kty) && !('d' in key) && !('k' in key);
  return isPublic && JSON.stringify(key).length <= keyLengthMax;
}

async function holds(signature: unknown, payload: string, key: PublicJwk): Promise<boolean> {
  const parts = readSignature(signature);
  if (!parts || !isKeyMeant(parts, key)) return false;
  try {
    // jose checks every member of the key that it uses.
    const imported = await importJWK(key as JWK, parts.header.alg);
    await flattenedVerify(
      {
        payload: Buffer.from(payload).toString('base64url'),
        protected: parts.protected,
        signature: parts.signature,
      },
      imported,
      { algorithms },
    );
    return true;
  } catch {
    return false;
  }
}

interface SignatureParts {
  readonly protected: string;
  readonly signature: string;
  readonly header: { readonly alg: string; readonly kid?: unknown };
}

function readSignature(value: unknown): SignatureParts | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const { protected: head, signature } = fields;
  if (typeof head !== 'string' || typeof signature !== 'string') return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(head, 'base64url').toString());
    if (typeof header !== 'object' || header === null || !('alg' in header)) return undefined;
    const { alg } = header;
    if (typeof alg !== 'string' || !algorithms.includes(alg)) return undefined;
    return { protected: head, signature, header: { ...header, alg } };
  } catch {
    return undefined;
  }
}

function isKeyMeant({ header }: SignatureParts, key: PublicJwk): boolean {
  const { kid } = key;
  return header.kid === undefined || kid === undefined || header.kid === kid;
}

/** The value without null, false, 0, empty texts, lists and objects; undefined when nothing is left. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((element) => element !== undefined);
    return kept.length > 0 ? kept : undefined;
  }
  if (typeof value === 'object' && value !== null) {
    const kept = Object.entries(value)
      .map(([key, member]) => [key, withoutDefaults(member)] as const)
      .filter(([, member]) => member !== undefined);
    return kept.length > 0 ? Object.fromEntries(kept) : undefined;
  }
  return value === null || value === '' || value === false || value === 0 ? undefined : value;
}

/** In a list false and 0 are values like others. */
function withoutEmpty(value: unknown): unknown {
  return value === false || value === 0 ? value : withoutDefaults(value);
}
