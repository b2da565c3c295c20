const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** What the text of a JSON value shows before it is parsed. */
export interface JsonShape {
  /** Levels of nesting. */
  readonly depth: number;
  /** Members of all objects together, where the text is JSON at all. */
  readonly members: number;
}

/** Measures a JSON text without parsing it; stops at the first level beyond `depthMax`. */
export function scanJson(text: string, depthMax: number): JsonShape {
  let level = 0;
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length && depth <= depthMax; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) at = endOfString(text, at);
    else if (char === colon) members += 1;
    else if (char === openBrace || char === openBracket) depth = Math.max(depth, (level += 1));
    else if (char === closeBrace || char === closeBracket) level -= 1;
  }
  return { depth, members };
}

/**
 * How many members the objects of a parsed value have: fewer than its text has where a name stands
 * twice, for a parser keeps one of the two. The depth must have been bounded.
 */
export function countMembers(value: unknown): number {
  if (Array.isArray(value)) {
    let count = 0;
    for (const item of value) if (typeof item === 'object') count += countMembers(item);
    return count;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  // Faster than a list of the keys; a parsed object has no prototype of its own making.
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    count += typeof member === 'object' ? 1 + countMembers(member) : 1;
  }
  return count;
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
