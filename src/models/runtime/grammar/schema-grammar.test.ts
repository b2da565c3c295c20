import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../inference/request.ts';
import { compileSchema } from './schema-grammar.ts';

/** The grammar of what a schema lets through. */
function grammarOf(schema: JsonSchema): string {
  const { root, rules } = compileSchema(schema, 's', 'strict');
  return `${rules}\nroot ${root}`;
}

const kind = (name: string, more: object = {}) => ({
  type: 'object',
  properties: { kind: { const: name }, ...more },
  required: ['kind'],
});

describe('a keyword that would not be held to is refused by its name:', () => {
  test.each<[string, JsonSchema]>([
    ['const', { const: 3, minimum: 5 }],
    ['const', { type: 'string', const: 5 }],
    ['enum', { type: 'string', enum: [1, 2] }],
    ['enum', { enum: [] }],
    ['anyOf', { anyOf: [] }],
    ['oneOf', { oneOf: [] }],
    ['properties', { properties: ['a'] }],
    ['properties', { enum: [{}], properties: { a: { type: 'string' } } }],
    ['required', { required: 'a' }],
    ['required', { properties: { a: true }, required: ['b'], additionalProperties: false }],
    ['maxLength', { type: 'string', format: 'date', maxLength: 5 }],
    ['minimum', { type: 'integer', minimum: 9007199254740991 }],
    ['maximum', { type: 'number', maximum: 2_000_000_000 }],
    ['multipleOf', { type: 'integer', multipleOf: 3 }],
    ['multipleOf', { type: 'integer', multipleOf: 0 }],
    ['multipleOf', { type: 'number', multipleOf: '2' }],
    ['format', { type: 'string', format: 'toString' }],
    ['minLength', { format: 'email', minLength: 20 }],
    ['maxLength', { format: 'uri', maxLength: 100 }],
    ['pattern', { format: 'email', pattern: '(?=a)b' }],
    ['minimum', { minimum: 0.5 }],
    ['minimum', { type: 'number', minimum: 3, maximum: 2 }],
    ['propertyNames', { type: 'object', propertyNames: { maxLength: 3 } }],
    ['maxLength', { type: 'string', maxLength: 20_001 }],
    ['maxLength', { pattern: '^a+$', maxLength: 3 }],
    ['minLength', { pattern: '^a+$', minLength: 2 }],
    ['pattern', { type: 'string', pattern: '(?=a)b' }],
    ['pattern', { type: 'string', enum: ['a'], pattern: '^b$' }],
    ['maxItems', { type: 'array', maxItems: 1_001 }],
    ['items', { prefixItems: [{ const: 1 }], items: [{ const: 1 }] }],
    ['additionalItems', { items: [{ const: 1 }], additionalItems: 3 }],
    ['maximum', { type: 'integer', maximum: '3' }],
  ])('%s in %j', (keyword, schema) => {
    expect(() => grammarOf(schema)).toThrow(
      expect.objectContaining({
        reason: 'unsupported_schema',
        detail: expect.objectContaining({ keyword }),
      }),
    );
  });

  test.each<JsonSchema[]>([
    [
      { type: 'string', maxLength: 5 },
      { type: 'string', minLength: 2 },
    ],
    [{ type: 'number' }, { type: 'integer' }],
    [{ const: 'a' }, { enum: ['b', 'a'] }],
    [{ const: 'a' }, { type: 'string' }],
    [{ required: ['a'] }, { type: 'string' }, { type: 'object' }],
    [kind('a'), { type: 'object', properties: { kind: { type: 'string' } } }],
    [
      { type: 'object', properties: { a: true } },
      { type: 'object', properties: { b: true } },
    ],
    [{ $ref: '#/$defs/none' }, { type: 'null' }],
  ])('oneOf, of choices that do not exclude each other: %j', (...oneOf) => {
    expect(() => grammarOf({ oneOf })).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ keyword: 'oneOf' }) }),
    );
  });
});

test.each<JsonSchema[]>([
  [{ type: 'string' }, { type: 'integer' }, { type: ['array', 'null'] }],
  [{ const: 'a' }, { enum: ['b', 'c'] }, { type: 'number' }],
  [kind('a'), kind('b', { size: { type: 'integer' } }), kind('c')],
  [
    { type: 'object', properties: { a: true }, required: ['a'] },
    { type: 'object', properties: { b: true }, required: ['b'] },
  ],
])('choices that exclude each other may stand in oneOf: %j', (...oneOf) => {
  expect(grammarOf({ oneOf })).toBe(grammarOf({ anyOf: oneOf }));
});

test('oneOf looks behind references, also into a schema that contains itself', () => {
  const leaf = kind('leaf');
  const node = kind('node', { next: { $ref: '#' } });
  const schema = {
    $defs: { leaf, node },
    oneOf: [{ $ref: '#/$defs/leaf' }, { $ref: '#/$defs/node' }],
  };
  expect(grammarOf(schema)).toContain('leaf');
  const rings = {
    type: 'object',
    properties: { a: { $ref: '#' }, b: { $ref: '#' } },
    required: ['a', 'b'],
  };
  expect(() => grammarOf({ oneOf: [rings, rings] })).toThrow(/oneOf/);
});

test.each<[JsonSchema, unknown[]]>([
  [{ type: 'string', enum: ['abcdef', 'x'], maxLength: 2 }, ['x']],
  [{ type: 'integer', enum: [1, 2, 30], minimum: 10 }, [30]],
  [{ type: ['string', 'null'], enum: ['a', 'b', null, 5] }, ['a', 'b', null]],
  [{ enum: [1, 2], const: 2 }, [2]],
  [{ enum: [[], [1]], minItems: 1 }, [[1]]],
])('of the listed values of %j only those are written that fit the rest', (schema, values) => {
  expect(grammarOf(schema)).toBe(grammarOf({ enum: values }));
});

test('a record of listed names is written with these', () => {
  const record = (names: string[], required: string[]) => ({
    type: 'object',
    propertyNames: { type: 'string', enum: names },
    additionalProperties: { type: 'number' },
    required,
  });
  const { propertyNames: _, ...open } = record([], ['a', 'b']);
  expect(grammarOf(record(['a', 'b', 'c'], ['a', 'b']))).toBe(grammarOf(open));
  expect(() => grammarOf(record(['a'], ['a', 'b']))).toThrow(/propertyNames/);
  expect(() => grammarOf(record(['a'], []))).toThrow(/propertyNames/);
});

test('bounds beyond all that is written bound nothing, as those of a 32-bit number', () => {
  const float = { type: 'number', minimum: -3.4028234663852886e38, maximum: 3.4028234663852886e38 };
  expect(grammarOf(float)).not.toContain('number');
});

test('keywords of one type mean that type where none is named', () => {
  expect(grammarOf({ required: ['zz'] })).toBe(grammarOf({ type: 'object', required: ['zz'] }));
  expect(grammarOf({ maxItems: 2 })).toBe(grammarOf({ type: 'array', maxItems: 2 }));
  expect(grammarOf({ maxLength: 2 })).toBe(grammarOf({ type: 'string', maxLength: 2 }));
});

test('a required property that is not named is as all others are', () => {
  const schema = { required: ['b'], additionalProperties: { type: 'integer' } };
  expect(grammarOf(schema)).toBe(
    grammarOf({ properties: { b: { type: 'integer' } }, required: ['b'] }),
  );
});

test('the schema of a tool is only ever widened', () => {
  const oneOf = [{ type: 'number' }, { type: 'integer' }];
  const odd = { type: 'object', properties: { a: { type: 'string', enum: [1, 2] }, b: { oneOf } } };
  const { rules } = compileSchema(odd, 's', 'lenient');
  expect(rules).toContain('"1" | "2"');
  expect(rules).toContain('number | integer');
});

test.each([
  { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
  { type: 'number', exclusiveMinimum: 0, maximum: 77_777 },
])('a long list repeats the name of its range, not the range: %j', (items) => {
  const grammar = grammarOf({ type: 'array', items, maxItems: 1_000 });
  expect(grammar).toMatch(/\[" ws .* s0 .*s0 \)\{0,999\}/);
});

test.each([false, { type: 'boolean' }, undefined])(
  'the first items of a list and those behind them, %j, are also read as draft 7 names them',
  (rest) => {
    const first = [{ type: 'string' }, { type: 'number' }];
    const isOpen = rest === undefined;
    const older = { items: first, ...(isOpen ? {} : { additionalItems: rest }) };
    const newer = { prefixItems: first, ...(isOpen ? {} : { items: rest }) };
    expect(grammarOf({ type: 'array', ...older })).toBe(grammarOf({ type: 'array', ...newer }));
  },
);
