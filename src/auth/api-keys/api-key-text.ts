import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApiKeyRow } from '../tables.ts';

/** An API key taken apart. */
export interface ApiKeyText {
  /** `key_…`, the id in the database. */
  readonly id: string;
  readonly secret: string;
}

const pattern = /^enn_([0-9a-f]{32})_([0-9a-f]{64})_([0-9a-f]{8})$/;
const secretBytes = 32;

/** A new random secret of 256 bits. */
export function newApiKeySecret(): string {
  return randomBytes(secretBytes).toString('hex');
}

/** `enn_<id>_<secret>_<crc>`: the checksum lets scanners and us know a key without asking anybody. */
export function formatApiKey({ id, secret }: ApiKeyText): string {
  const body = `${id.slice('key_'.length)}_${secret}`;
  return `enn_${body}_${checksum(body)}`;
}

/** The parts of a key; undefined for what was never one of ours. */
export function parseApiKey(text: string): ApiKeyText | undefined {
  const [, id, secret, sum] = pattern.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return sum === checksum(`${id}_${secret}`) ? { id: `key_${id}`, secret } : undefined;
}

/** How every text of a key begins. */
export function apiKeyPrefix(id: string): string {
  return `enn_${id.slice('key_'.length)}`;
}

/** What the database keeps of a secret; it is random, so one round of SHA-256 is enough. */
export function hashApiKeySecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/**
 * What tokens are issued under that were traded for a secret of the key: each secret has its own, so
 * that the tokens of an old one can be ended alone.
 */
export function secretSessionId(keyId: string, hash: Buffer): string {
  return `${keyId}.${hash.toString('hex', 0, 8)}`;
}

/** What every token of the key is issued under. */
export function secretSessionIds({
  id,
  hash,
  former_secrets: former,
}: Pick<ApiKeyRow, 'id' | 'hash' | 'former_secrets'>): string[] {
  const hashes = [hash, ...former.map((secret) => Buffer.from(secret.hash, 'hex'))];
  return hashes.map((one) => secretSessionId(id, one));
}

/** Whether a secret has the hash, in a time that does not depend on how much of it is right. */
export function isSecretOf(hash: Buffer, secret: string): boolean {
  return timingSafeEqual(hash, hashApiKeySecret(secret));
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, '0');
}
