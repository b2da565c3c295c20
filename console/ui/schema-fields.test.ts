import { expect, test } from 'vitest';
import { draftOf, fieldsOf, readForm } from './schema-fields.ts';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where', maxLength: 40 },
    days: { type: 'integer', minimum: 1, default: 3 },
    ratio: { type: 'number' },
    detailed: { type: 'boolean', default: false },
    unit: { enum: ['C', 'F'], default: 'C' },
    tags: { type: 'array', items: { type: 'string' } },
    place: { anyOf: [{ type: 'string' }, { type: 'object' }] },
    maybe: { type: ['string', 'null'] },
    version: { const: 2 },
  },
  required: ['city', 'unit'],
};
const fields = fieldsOf(schema);

test('each property of an object is a field of a kind that takes its values', () => {
  const kinds = Object.fromEntries(fields.map(({ name, kind }) => [name, kind]));
  expect(kinds).toEqual({
    city: 'text',
    days: 'number',
    ratio: 'number',
    detailed: 'boolean',
    unit: 'choice',
    tags: 'json',
    place: 'json',
    maybe: 'json',
    version: 'choice',
  });
  expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual([
    'city',
    'unit',
  ]);
});

test('bounds and types are told in words', () => {
  const limits = Object.fromEntries(fields.map((field) => [field.name, field.limits]));
  expect(limits).toMatchObject({
    city: 'characters at most 40',
    days: 'a whole number, at least 1',
    tags: 'a JSON array of strings',
    place: 'JSON',
    maybe: 'JSON: string or null',
  });
});

test('a form begins with the defaults of the schema', () => {
  expect(draftOf(fields)).toEqual({ days: '3', detailed: false, unit: '"C"' });
});

test('a filled form gives values of the right types, without what is empty', () => {
  const draft = { city: '007', days: '2', ratio: '', detailed: true, unit: '"F"', tags: '["a"]' };
  expect(readForm(fields, draft)).toEqual({
    value: { city: '007', days: 2, detailed: true, unit: 'F', tags: ['a'] },
    flaws: {},
  });
});

test('what cannot be read is told by field', () => {
  const { value, flaws } = readForm(fields, { days: '1.5', ratio: 'x', tags: '[' });
  expect(value).toEqual({});
  expect(flaws).toMatchObject({
    days: 'days must be a whole number',
    ratio: 'ratio must be a number',
    tags: expect.stringContaining('tags is no JSON'),
  });
});

test('a schema without properties has no fields', () => {
  for (const odd of [undefined, null, true, [], { type: 'object' }, { properties: [] }]) {
    expect(fieldsOf(odd)).toEqual([]);
  }
});
