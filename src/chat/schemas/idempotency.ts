import { Type } from 'typebox';

const pattern = '^[\\x21-\\x7e]{1,255}$';
const form = new RegExp(pattern);

/** What names a request, so that it may come again; a header holds nothing else than these characters. */
export const IdempotencyKey = Type.String({
  pattern,
  description:
    'printable ASCII: the same request with the same key is one turn, for an hour after its end; one that failed is asked again',
});

export function isIdempotencyKey(text: string): boolean {
  return form.test(text);
}
