import { createHash, createHmac } from 'node:crypto';
import { decrypt, encrypt } from '../../kit/secrets/sealing.ts';
import { readToken } from '../keys/compact-token.ts';
import { signingKeyOf } from '../keys/token-secrets.ts';
import type { SessionRow } from '../tables.ts';

const context = 'ennead refresh token successor';

/** What the database keeps of a refresh token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The signing key that a refresh token of this service goes by. */
export function keyIdOf(token: string): string {
  return signingKeyOf(readToken(token)?.kid ?? '');
}

/** What a refresh token is to its session: the good one, the one before it, or any other. */
export function standingOf(
  { token_hash, previous_hash }: Pick<SessionRow, 'token_hash' | 'previous_hash'>,
  token: string,
): 'good' | 'previous' | 'older' {
  const hash = hashToken(token);
  if (hash.equals(token_hash)) return 'good';
  return previous_hash && hash.equals(previous_hash) ? 'previous' : 'older';
}

/**
 * Seals a refresh token's successor under a key that only the token itself yields (HKDF's
 * extraction, RFC 5869, section 2.2: one key needs no expansion): whoever reads the database learns nothing, whoever repeats the request gets the same answer.
 */
export function sealSuccessor(token: string, successor: string): Buffer {
  return encrypt(keyOf(token), Buffer.from(successor), context);
}

/** The successor of `sealSuccessor`; throws when it was sealed for another token. */
export function openSuccessor(token: string, sealed: Buffer): string {
  return decrypt(keyOf(token), sealed, context).toString();
}

function keyOf(token: string): Uint8Array {
  return createHmac('sha256', context).update(token).digest();
}
