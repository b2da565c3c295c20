import { expect, test } from 'vitest';
import { readItems } from './items.ts';

test('items are a JSON array of objects, or a JSON object a line', () => {
  const items = [{ name: 'Ada' }, { name: 'Grace', tags: ['x', 'y'] }];
  expect(readItems(JSON.stringify(items, null, 2))).toEqual(items);
  const lines = items.map((one) => JSON.stringify(one)).join('\r\n');
  expect(readItems(`\n${lines}\n\n`)).toEqual(items);
});

test.each([
  ['', 'A batch needs at least one item'],
  ['[]', 'A batch needs at least one item'],
  ['{"a": 1}\nAda', 'Item 2 is no JSON'],
  ['[{"a": 1}, 7]', 'Item 2 must be a JSON object'],
  ['[{"a": 1}', 'The list of items is no JSON'],
  ['null', 'Item 1 must be a JSON object'],
])('%j is refused: %s', (text, message) => {
  expect(() => readItems(text)).toThrow(message);
});
