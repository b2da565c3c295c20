import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { findFlaws } from './schema-flaws.ts';

const Input = Type.Union([
  Type.Union([Type.String(), Type.Array(Type.String({ maxLength: 3 }), { maxItems: 2 })]),
  Type.Null(),
]);
const Choice = Type.Union([
  Type.Enum(['none', 'auto']),
  Type.Object({ function: Type.Object({ name: Type.String() }) }),
]);
const Kind = Type.Union([Type.Literal('a'), Type.Literal('b')]);
const Body = Type.Object({
  input: Type.Optional(Input),
  choice: Type.Optional(Choice),
  kind: Type.Optional(Kind),
  count: Type.Optional(Type.Union([Type.Integer({ maximum: 9 }), Type.Null()])),
});

test.each([
  [{ input: ['a', 'b', 'c'] }, '/input', 'must not have more than 2 items'],
  [{ input: ['a', null] }, '/input/1', 'must be string'],
  [{ input: ['a', 'long'] }, '/input/1', 'must not have more than 3 characters'],
  [{ input: {} }, '/input', 'must be string or array'],
  [{ count: 10 }, '/count', 'must be <= 9'],
  [{ count: 'many' }, '/count', 'must be integer'],
  [{ kind: 'c' }, '/kind', 'must be one of "a", "b"'],
  [{ choice: 'all' }, '/choice', 'must be one of "none", "auto"'],
  [{ choice: { function: { name: 1 } } }, '/choice/function/name', 'must be string'],
])('of a union the branch that was meant says what is wrong: %j', (body, place, message) => {
  expect(findFlaws(Value.Errors(Body, body), Body)).toEqual([{ place, message }]);
});

test('a property that may not be there is named', () => {
  const strict = Type.Object({ known: Type.String() }, { additionalProperties: false });
  expect(findFlaws(Value.Errors(strict, { known: 'a', other: 1 }), strict)).toEqual([
    { place: '/other', message: 'is not known here' },
    { place: '', message: 'must not have additional properties' },
  ]);
});

test('a property that is not there is named', () => {
  expect(findFlaws(Value.Errors(Body, { choice: {} }), Body)).toEqual([
    { place: '/choice', message: 'must have required properties function', missing: 'function' },
  ]);
});

test('what is no time is told how one is written', () => {
  const Since = Type.Object({ since: Type.String({ format: 'date-time' }) });
  expect(findFlaws(Value.Errors(Since, { since: '2026-01-31' }), Since)).toEqual([
    { place: '/since', message: 'must be a time such as 2026-01-31T08:00:00Z' },
  ]);
});
