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

/** What a parsed JSON value holds. */
export interface JsonContent {
  /** Members of all objects together: fewer than the text has where a name stands twice. */
  readonly members: number;
  /** Whether a member's name reaches for a prototype: `__proto__`, or `prototype` in a `constructor`. */
  readonly isForged: boolean;
}

/** Looks through a parsed value, whose depth must have been bounded. */
export function inspectJson(value: unknown): JsonContent {
  const content = { members: 0, isForged: false };
  if (typeof value === 'object' && value !== null) inspectInto(value, content);
  return content;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function inspectInto(value: object, content: Writable<JsonContent>): void {
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      if (typeof item === 'object' && item !== null) inspectInto(item, content);
    }
    return;
  }
  // Faster than a list of the keys; a parsed object has no prototype of its own making.
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    content.members += 1;
    if (name === '__proto__') content.isForged = true;
    if (typeof member !== 'object' || member === null) continue;
    if (name === 'constructor' && Object.hasOwn(member, 'prototype')) content.isForged = true;
    inspectInto(member, content);
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
