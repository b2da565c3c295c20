import { expect, test } from 'vitest';
import { countOf, jsonOf } from './output.ts';

test('no JSON that is printed can steer a terminal, on one line or on many', () => {
  const value = { name: '\u009B2J\u202Eab\u001B' };
  expect(jsonOf(value)).toBe('{"name":"\\u009b2J\\u202eab\\u001b"}');
  expect(jsonOf(value, 2)).toBe('{\n  "name": "\\u009b2J\\u202eab\\u001b"\n}');
  expect(JSON.parse(jsonOf(value))).toEqual(value);
});

test('one thing is told in the singular, none and several in the plural', () => {
  expect([0, 1, 2].map((count) => countOf(count, 'node'))).toEqual([
    '0 nodes',
    '1 node',
    '2 nodes',
  ]);
});
