import { createHash } from 'node:crypto';
import type { AuditRow } from '../tables.ts';

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
  const at = occurred_at.toISOString();
  const event = [event_type, user_id, at, ip, user_agent, client_id, sortMembers(metadata)];
  return createHash('sha256').update(JSON.stringify(event)).digest();
}

/** The hash of an event in its place, as the database computes it too. */
export function linkOf(previous: Buffer, seq: number, digest: Buffer): Buffer {
  const number = Buffer.alloc(seqBytes);
  number.writeBigInt64BE(BigInt(seq));
  return createHash('sha256').update(previous).update(number).update(digest).digest();
}

/** The same value with the members of its objects in one order, whichever the database gives them. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  // A Date, say, is written as JSON writes it, and so it is read back.
  if (!isPlainObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sortMembers(value[key])]));
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}

/** A stored event; `seq` orders all events. */
export type AuditRecord = Omit<AuditRow, 'seq' | 'hash'>;
