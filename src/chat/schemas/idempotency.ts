import { Type } from 'typebox';

/** What names a request, so that it may come again; a header holds nothing else than these characters. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'printable ASCII: the same request with the same key is one turn, for an hour after its end; one that failed is asked again',
});

const keyPattern = /^[\x21-\x7e]{1,255}$/;

export function isIdempotencyKey(text: string): boolean {
  return keyPattern.test(text);
}
