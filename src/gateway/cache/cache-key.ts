import { hash } from 'node:crypto';
import { ExactNumber } from '../dialects/exact-json.ts';
import type { CacheQuestion } from './answer-cache.ts';

/** Fields of a request that say how it is answered, not what. */
const omitted: ReadonlySet<string> = new Set(['stream', 'stream_options', 'cache']);

/** Digits of a key that callers see: 128 bits. */
export const shownDigits = 32;

/** Who may share an answer: nobody outside finds it, whatever the rest of the request. */
export type Scope = Pick<CacheQuestion, 'tenant' | 'face'> & { readonly namespace: string };

/**
 * SHA-256 in hex of the scope and of everything in the body that can change the answer. The order
 * of members does not matter, at no level; that of lists does.
 */
export function cacheKeyOf(scope: Scope, body: Readonly<Record<string, unknown>>): string {
  // A JSON list has one reading: no tenant can be named so that it takes in a part of the face.
  const prefix = JSON.stringify([scope.tenant, scope.face, scope.namespace]);
  return hash('sha256', prefix + writeMembers(body, omitted), 'hex');
}

/** The part of a key that is shown to callers. */
export function shownKey(key: string): string {
  return key.slice(0, shownDigits);
}

function write(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof ExactNumber) return value.text;
  if (!Array.isArray(value)) return writeMembers(value);
  let text = '[';
  for (const item of value as unknown[]) text += `${write(item)},`;
  return `${text}]`;
}

function writeMembers(value: object, without?: ReadonlySet<string>): string {
  let text = '{';
  for (const name of Object.keys(value).toSorted()) {
    if (without?.has(name)) continue;
    text += `${JSON.stringify(name)}:${write((value as Record<string, unknown>)[name])},`;
  }
  return `${text}}`;
}
