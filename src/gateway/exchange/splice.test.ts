import { expect, test } from 'vitest';
import { appendMember, spliceMembers } from './splice.ts';

const change = (text: string, changes: Readonly<Record<string, string | undefined>>) =>
  spliceMembers(text, new Map(Object.entries(changes)));

test('a text without anything to change stays as it is', () => {
  const text = ' { "a" : 1.0 , "b":[1,  2] } ';
  expect(change(text, {})).toBe(text);
  expect(change(text, { missing: undefined })).toBe(text);
});

test('members are replaced, dropped and added, and the others keep their bytes', () => {
  const text = '{"model" : "a", "n":1.50,"deep":{"model":"in"},"text":"\\"model\\":{}"}';
  expect(change(text, { model: '"b"' })).toBe(
    '{"model" : "b","n":1.50,"deep":{"model":"in"},"text":"\\"model\\":{}"}',
  );
  expect(change(text, { model: undefined, deep: undefined })).toBe(
    '{"n":1.50,"text":"\\"model\\":{}"}',
  );
  expect(change(text, { stream: 'true' })).toMatch(/,"stream":true}$/);
  expect(change('{}', { a: '1' })).toBe('{"a":1}');
  expect(change('{"a":1}', { a: undefined })).toBe('{}');
});

test('a member is added behind the last one, whatever the text around it', () => {
  expect(appendMember('{"a":{"b":1}}', 'c', '[2]')).toBe('{"a":{"b":1},"c":[2]}');
  expect(appendMember(' { "a" : "}" }\n', 'c', '{"d":3}')).toBe(' { "a" : "}" ,"c":{"d":3}}\n');
});

test('what is spliced is what the parsed object would be', () => {
  const values = [
    0,
    -1.5e300,
    '',
    'a"b\\',
    '}{][,:',
    null,
    true,
    [],
    {},
    [[{}]],
    { a: [1, { b: 2 }] },
  ];
  for (const left of values) {
    for (const right of values) {
      for (const space of [undefined, 2]) {
        const text = JSON.stringify({ left, target: right, 'na"me': left, right }, null, space);
        const expected: Record<string, unknown> = {
          ...(JSON.parse(text) as object),
          target: 'new',
        };
        expect(JSON.parse(change(text, { target: '"new"' }))).toEqual(expected);
        delete expected['target'];
        delete expected['na"me'];
        expect(JSON.parse(change(text, { target: undefined, 'na"me': undefined }))).toEqual(
          expected,
        );
      }
    }
  }
});
