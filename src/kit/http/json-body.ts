import secureJson from 'secure-json-parse';
import { Fault } from '../errors.ts';

const depthMax = 64;

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Parses a JSON body (RFC 8259). Refuses U+0000, which PostgreSQL cannot store in a text, and nesting deeper than 64 before parsing, so that no later
 * recursion can overflow, and the keys `__proto__` and `constructor.prototype`.
 */
export function parseJsonBody(text: string): unknown {
  refuseNul(text);
  refuseDeepNesting(text);
  try {
    return secureJson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' });
  } catch (cause) {
    const isForbiddenKey = cause instanceof SyntaxError && cause.message.includes('forbidden');
    const what = isForbiddenKey ? 'holds a forbidden key' : 'is not valid JSON';
    throw new Fault('invalid', `the body ${what}`, { reason: 'invalid_json', cause });
  }
}

const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

function refuseNul(text: string): void {
  if (!text.includes(String.raw`\u0000`) || !escapedNul.test(text)) return;
  throw new Fault('invalid', 'the body holds the character U+0000', { reason: 'invalid_json' });
}

function refuseDeepNesting(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) at = endOfString(text, at);
    else if (char === openBrace || char === openBracket) depth += 1;
    else if (char === closeBrace || char === closeBracket) depth -= 1;
    if (depth > depthMax) {
      throw new Fault('invalid', `the body is nested deeper than ${depthMax} levels`, {
        reason: 'invalid_json',
      });
    }
  }
}

/** Index of the quote that ends the string which starts at `start`; the text's end if none does. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}
