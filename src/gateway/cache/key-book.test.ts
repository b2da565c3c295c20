import { expect, test } from 'vitest';
import { cacheKeyOf, type Scope } from './cache-key.ts';
import { KeyBook } from './key-book.ts';

const body = { model: 'm', temperature: 0 };
const text = JSON.stringify(body);
const scope: Scope = { tenant: 'usr_1', face: 'openai', namespace: '' };

test('no tenant and no face gets the key of another, though their texts are the same', () => {
  const book = new KeyBook();
  const scopes = [scope, { ...scope, tenant: 'usr_2' }, { ...scope, face: 'openai+' }];
  for (const one of [...scopes, ...scopes]) {
    const key = book.keyOf(one, { text, body });
    expect(key).toBe(cacheKeyOf(one, body));
    book.keep(one, text, key);
  }
});

test('a text that was kept is not read again, and one that was not said is', () => {
  const book = new KeyBook();
  book.keep(scope, text, 'kept');
  expect(book.keyOf(scope, { text, body })).toBe('kept');
  expect(book.keyOf(scope, { body })).toBe(cacheKeyOf(scope, body));
  book.keep(scope, '', 'kept');
  expect(book.keyOf(scope, { text: '', body })).toBe(cacheKeyOf(scope, body));
});

test('a text that is too long is read each time', () => {
  const book = new KeyBook();
  const long = { ...body, user: 'x'.repeat(70_000) };
  const longText = JSON.stringify(long);
  book.keep(scope, longText, 'kept');
  expect(book.keyOf(scope, { text: longText, body: long })).toBe(cacheKeyOf(scope, long));
});
