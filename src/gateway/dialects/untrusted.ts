import { doubleOf, ExactNumber, parseExact } from './exact-json.ts';
import { UpstreamError } from './upstream-error.ts';
import type { Json } from './json.ts';

const nothing: Json = {};

/** An object as it is; an empty one for all else. */
export function recordIn(value: unknown): Json {
  return isRecord(value) ? value : nothing;
}

/** An array as it is; an empty one for all else. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A text that is not empty. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number of tokens; 0 for all that cannot be one. */
export function countIn(value: unknown): number {
  const count = doubleOf(value);
  return isTokenCount(count) ? count : 0;
}

/** Whether a provider's count can be believed: whole, not negative, and no answer is so long. */
export function isTokenCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= tokensMax;
}

const tokensMax = 1e12;

/** Whether a parsed value is an object and no list. */
export function isRecord(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null) return false;
  return !Array.isArray(value) && !(value instanceof ExactNumber);
}

/**
 * The JSON object that a piece of a stream holds; throws `UpstreamError` (`broken`) for all else.
 * Where the name stands in it under which this dialect has calls, numbers keep their texts.
 */
export function parsePiece(text: string, callName?: string): Json {
  let value: unknown;
  try {
    const holdsCall = callName !== undefined && text.includes(callName);
    value = holdsCall ? parseExact(text) : JSON.parse(text);
  } catch (cause) {
    throw UpstreamError.of('broken', 'the provider sent a piece that is no JSON', { cause });
  }
  if (isRecord(value)) return value;
  throw UpstreamError.of('broken', 'the provider sent a piece that is no JSON object');
}

/**
 * The arguments of a call in the request's history, as an object whose numbers keep their texts. Throws `UpstreamError`
 * (`rejected`) where they are none: most dialects cannot say them then.
 */
export function parseArguments(text: string): Json {
  if (text.trim() === '') return nothing;
  try {
    const value = parseExact(text);
    if (isRecord(value)) return value;
  } catch {
    // Told below, as for JSON that is no object.
  }
  const message = 'the arguments of a tool call are not a JSON object';
  throw new UpstreamError({ kind: 'rejected', message, param: 'messages' });
}

/** For a part that comes to a dialect without words for it, though `unsupported` names it. */
export function unsayable(param: string): UpstreamError {
  return new UpstreamError({ kind: 'rejected', message: `the provider takes no ${param}`, param });
}
