import { expect, test } from 'vitest';
import { SearchIndex } from './search-index.ts';
import { couldMake } from './templates.ts';

function indexOf(texts: Readonly<Record<string, string>>): SearchIndex {
  const index = new SearchIndex();
  for (const [key, text] of Object.entries(texts)) index.add({ key, name: key, text });
  return index;
}

const keys = (index: SearchIndex, query: string) => index.search(query, 10).map(({ key }) => key);

test('a rare word weighs more than a common one', () => {
  const index = indexOf({
    a: 'read the file',
    b: 'read the mail',
    c: 'read the rare thing',
    d: 'read',
  });
  expect(keys(index, 'read rare')[0]).toBe('c');
});

test('a word of the name weighs more than one of the description', () => {
  expect(keys(indexOf({ other: 'send mail', send_mail: 'nothing' }), 'mail')).toEqual([
    'send_mail',
    'other',
  ]);
});

test('camel case, snake case and plurals are their words', () => {
  const index = indexOf({ readFile: '', list_entities: '', HTTPGet2: '' });
  expect(keys(index, 'files')).toEqual(['readFile']);
  expect(keys(index, 'ENTITIES')).toEqual(['list_entities']);
});

test('equal ones come in the order of their keys, and no more than asked for', () => {
  const index = indexOf({ c: 'same', a: 'same', b: 'same' });
  expect(index.search('same', 2).map(({ key }) => key)).toEqual(['a', 'b']);
});

test('what was removed or replaced is found no more', () => {
  const index = indexOf({ a: 'apple', b: 'apple' });
  index.remove('a');
  index.add({ key: 'b', name: 'b', text: 'pear' });
  expect(keys(index, 'apple')).toEqual([]);
  expect(keys(index, 'pear')).toEqual(['b']);
  index.remove('b');
  expect(index.size).toBe(0);
  expect(keys(index, 'pear')).toEqual([]);
});

test.each([
  ['note://{id}/text', 'note://7/text', true],
  ['note://{id}/text', 'note://7/data', false],
  ['note://{id}', 'file://7', false],
  ['a{x}b{y}b', 'a1b2b', true],
  ['a{x}bb{y}b', 'abb', false],
  ['fixed', 'fixed', true],
  ['fixed', 'fixed2', false],
])('the template %s could make %s: %s', (template, uri, expected) => {
  expect(couldMake(template, uri)).toBe(expected);
});
