import { Fault } from '../errors.ts';
import type { Retention } from './bus.ts';
import type { Content } from './retained.ts';

/** What a topic keeps when nobody says otherwise. */
export const defaultRetention = { retainCount: 10_000, retainSeconds: 3600 } as const;

/** The most an event's JSON may measure, well below the 1 MiB that NATS takes in one message. */
export const eventBytesMax = 512 * 1024;

/** An event as it is stored; refuses with `invalid` what is no JSON and with `too_large` the rest. */
export function encodeEvent(data: unknown): string {
  const text = toJson(data);
  // A UTF-16 unit takes at most three bytes: short texts need no counting.
  const isLarge = text.length * 3 > eventBytesMax && Buffer.byteLength(text) > eventBytesMax;
  if (!isLarge) return text;
  throw new Fault('too_large', `an event may hold at most ${eventBytesMax} bytes`);
}

/**
 * An event as a process keeps it for itself, of the shape that its JSON has and independent of whoever
 * published it. A copy does where all members are plain and short, and costs less than the JSON.
 */
export function contentOf<T>(data: T): Content<T> {
  return isFlat(data) ? { copy: { ...data } } : { text: encodeEvent(data) };
}

const flatMembersMax = 16;
const flatTextLengthMax = 1024;

function isFlat(data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false;
  if (Object.getPrototypeOf(data) !== Object.prototype) return false;
  let members = 0;
  for (const key in data) {
    members += 1;
    if (members > flatMembersMax || !isPlain((data as Readonly<Record<string, unknown>>)[key])) {
      return false;
    }
  }
  return true;
}

/** What JSON gives back as it was. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= flatTextLengthMax;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === 'boolean';
}

/** Refuses a name that a NATS subject or stream could not carry; such a name is our own bug. */
export function checkTopicName(name: string): void {
  if (/^[a-z0-9]+([.-][a-z0-9]+)*$/.test(name) && name.length <= 100) return;
  throw new TypeError(`"${name}" cannot name a topic: use kebab-case parts joined by dots`);
}

/** Refuses a limit that no topic could keep; such a limit is our own bug. */
export function checkRetention(retention: Retention): void {
  const { retainCount = 1, retainSeconds = 1 } = retention;
  if (Number.isSafeInteger(retainCount) && retainCount > 0 && retainSeconds >= 1) return;
  throw new TypeError('a topic retains at least one event for at least one second');
}

/** Refuses with `invalid` a place that cannot be a seq; it often comes from a client's message. */
export function checkPlace(after: number | undefined): void {
  if (after === undefined || (Number.isSafeInteger(after) && after >= 0)) return;
  throw new Fault('invalid', 'a sequence number is a whole number from 0');
}

function toJson(data: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch (error) {
    throw new Fault('invalid', 'an event must be a JSON value', { cause: error });
  }
  if (text === undefined) throw new Fault('invalid', 'an event must be a JSON value');
  return text;
}
