import { createHash } from 'node:crypto';
import type { JsonField } from './json-field.ts';

const idTextLengthMax = 128;

/**
 * A trace's id as OTLP writes it. Shorter hexadecimal ids, the 64-bit ones among them, are padded with
 * zeros; any other text becomes the beginning of its SHA-256, so that it is the same every time.
 */
export function traceIdOf(field: JsonField): string {
  return idOf(field, 32);
}

/** A span's id, likewise. */
export function spanIdOf(field: JsonField): string {
  return idOf(field, 16);
}

/** An id that follows from others, for a span that shared its own. */
export function derivedSpanId(parts: readonly (string | number | undefined)[]): string {
  return digestOf(JSON.stringify(parts), 16);
}

function idOf(field: JsonField, length: 16 | 32): string {
  const text = field.text();
  if (text === '' || text.length > idTextLengthMax) {
    throw field.refusal(`must be an id of 1 to ${idTextLengthMax} characters`);
  }
  const isHexadecimal = /^[0-9a-f]+$/i.test(text) && text.length <= length;
  const id = isHexadecimal ? text.toLowerCase().padStart(length, '0') : digestOf(text, length);
  if (/^0+$/.test(id)) throw field.refusal('must not be zero');
  return id;
}

function digestOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
