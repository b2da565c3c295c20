import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AttributeMap } from './span.ts';
import { packTags, unpackTags } from './tags.ts';

const value = fc.oneof(
  fc.string({ maxLength: 200, unit: 'grapheme' }),
  fc.constantFrom('/api/v1/', '/api/v1/traces', 'usr_', 'GET', 'GETTING', '', 'https://a.example'),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((float) => float + 0),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
);
const key = fc.oneof(
  fc.constantFrom('http.route', 'agent.id', 'http.response.status_code', 'user_agent.original'),
  fc
    .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
    .filter((text) => text !== '__proto__'),
);

it('what is packed is unpacked as it was', () => {
  const attributes = fc.dictionary(key, value, { maxKeys: 12, noNullPrototype: true });
  fc.assert(
    fc.property(attributes, (given: AttributeMap) => {
      const packed = packTags(given);
      if (Object.keys(given).length === 0) expect(packed).toBeUndefined();
      else expect(unpackTags(packed ?? null)).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

it('few common attributes take few bytes, many are deflated', () => {
  const common = {
    'agent.id': 'agent-12',
    'http.request.method': 'GET',
    'http.route': '/api/v1/agents/{id}',
    'http.response.status_code': 200,
  };
  expect(packTags(common)?.length).toBeLessThan(50);
  const texts = Array.from({ length: 30 }, (_, index) => [
    `key.${index}`,
    'the same text '.repeat(9),
  ]);
  const many = Object.fromEntries(texts) as AttributeMap;
  expect(packTags(many)?.length).toBeLessThan(1_000);
  expect(unpackTags(packTags(many) ?? null)).toEqual(many);
});

it('long texts are cut, and there are 64 attributes at most', () => {
  const texts = Array.from({ length: 80 }, (_, index) => [`k${index}`, index]);
  expect(Object.keys(unpackTags(packTags(Object.fromEntries(texts)) ?? null))).toHaveLength(64);
  const cut = unpackTags(packTags({ text: 'x'.repeat(1_000) }) ?? null)['text'];
  expect(cut).toBe(`${'x'.repeat(256)}…`);
});

it('rows of before, which were all deflated, are read', () => {
  // With no word of the dictionary, so that it makes no difference.
  const deflated = deflateRawSync(JSON.stringify({ ü: 'ß', n: 1 }));
  expect(unpackTags(deflated)).toEqual({ ü: 'ß', n: 1 });
});
