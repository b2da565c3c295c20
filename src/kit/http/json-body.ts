import { Fault } from '../errors.ts';
import { inspectJson, scanJson } from '../json-scan.ts';

const depthMax = 64;
const byteOrderMark = '\u{FEFF}';

/** A text without the byte-order mark that some clients write in front of what is UTF-8 anyway. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
}

/**
 * Parses a JSON body (RFC 8259), with a byte-order mark in front or without. Refuses U+0000, which
 * PostgreSQL cannot store in a text, and nesting deeper than 64 before parsing, so that no later recursion
 * can overflow; the keys `__proto__` and `constructor.prototype`; and a key that stands twice in an
 * object, of which each reader might take another.
 */
export function parseJsonBody(marked: string): unknown {
  const text = withoutByteOrderMark(marked);
  refuseNul(text);
  const { depth, members } = scanJson(text, depthMax);
  if (depth > depthMax) throw refusal(`is nested deeper than ${depthMax} levels`);
  const value = parse(text);
  const content = inspectJson(value);
  if (content.isForged) throw refusal('holds a forbidden key');
  if (members !== content.members) throw refusal('holds a key twice');
  return value;
}

/** The same; undefined for what it refuses. */
export function tryParseJsonBody(text: string): unknown {
  try {
    return parseJsonBody(text);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refusal('is not valid JSON', cause);
  }
}

const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

function refuseNul(text: string): void {
  // In the order of what they cost: most texts hold no backslash at all.
  if (!text.includes('\\') || !text.includes(String.raw`\u0000`)) return;
  if (!escapedNul.test(text)) return;
  throw refusal('holds the character U+0000');
}

function refusal(what: string, cause?: unknown): Fault {
  return new Fault('invalid', `the body ${what}`, { reason: 'invalid_json', cause });
}
