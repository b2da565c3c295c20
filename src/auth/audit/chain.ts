import { createHash } from 'node:crypto';
import type { AuditRecord } from './audit-store.ts';

/** Where a chain stands: the number and the hash of its last event. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: Buffer;
}

const seqBytes = 8;
const hashBytes = 32;

/** The hash before the first event. */
export const noHash: Buffer = Buffer.alloc(hashBytes);

/** SHA-256 of an event as it will be read back: sorted keys, times in milliseconds. */
export function digestOf(record: AuditRecord): Buffer {
  const { event_type, user_id, occurred_at, ip, user_agent, client_id, metadata } = record;
  // What JSON changes, such as a Date among the facts, is read back changed.
  const facts: unknown = JSON.parse(JSON.stringify(metadata));
  const at = occurred_at.toISOString();
  const event = [event_type, user_id, at, ip, user_agent, client_id, facts];
  return createHash('sha256').update(toCanonicalJson(event)).digest();
}

/** The hash of an event in its place, as the database computes it too. */
export function linkOf(previous: Buffer, seq: number, digest: Buffer): Buffer {
  const number = Buffer.alloc(seqBytes);
  number.writeBigInt64BE(BigInt(seq));
  return createHash('sha256').update(previous).update(number).update(digest).digest();
}

function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const members = entries.map(
    ([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member)}`,
  );
  return `{${members.join(',')}}`;
}
