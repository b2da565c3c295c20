import { expect, test } from 'vitest';
import { cacheKeyOf } from './cache-key.ts';

const scope = { tenant: 'usr_1', face: 'openai', namespace: '' };
const body = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hello' }],
  temperature: 0,
  tools: [{ type: 'function', function: { name: 'f', parameters: { a: 1, b: [1, 2] } } }],
};

const different: [string, Parameters<typeof cacheKeyOf>][] = [
  ['another tenant', [{ ...scope, tenant: 'usr_2' }, body]],
  ['another face', [{ ...scope, face: 'anthropic' }, body]],
  ['another namespace', [{ ...scope, namespace: 'x' }, body]],
  [
    'parts of the scope that only join to the same text',
    [{ ...scope, tenant: 'usr_1","openai', face: '' }, body],
  ],
  ['another model', [scope, { ...body, model: 'n' }]],
  ['another temperature', [scope, { ...body, temperature: 0.1 }]],
  ['another routing strategy', [scope, { ...body, routing_strategy: 'quality' }]],
  ['another member that nobody knows', [scope, { ...body, brand_new: 1 }]],
  ['a number as text', [scope, { ...body, temperature: '0' }]],
  ['null for nothing', [scope, { ...body, seed: null }]],
  ['another order of tools’ values', [scope, { ...body, tools: [...body.tools, {}] }]],
  ['another text', [scope, { ...body, messages: [{ role: 'user', content: 'hello' }] }]],
  ['a list for its only item', [scope, { ...body, messages: { role: 'user', content: 'Hello' } }]],
];

test.each(different)('%s makes another key', (_title, [where, what]) => {
  expect(cacheKeyOf(where, what)).not.toBe(cacheKeyOf(scope, body));
});

const same: [string, Record<string, unknown>][] = [
  ['asking for a stream', { ...body, stream: true, stream_options: { include_usage: true } }],
  ['the wishes about the cache', { ...body, cache: { enabled: true, ttl: 5, key: 'y' } }],
  [
    'the order of members at any level',
    {
      tools: [{ function: { parameters: { b: [1, 2], a: 1 }, name: 'f' }, type: 'function' }],
      temperature: 0,
      messages: [{ content: 'Hello', role: 'user' }],
      model: 'm',
    },
  ],
];

test.each(same)('%s does not change the key', (_title, what) => {
  expect(cacheKeyOf(scope, what)).toBe(cacheKeyOf(scope, body));
});

test('a key is 64 hex digits', () => {
  expect(cacheKeyOf(scope, body)).toMatch(/^[0-9a-f]{64}$/);
});

test('members that are left out at the top count below it', () => {
  const nested = (stream: boolean) => ({ ...body, metadata: { stream } });
  expect(cacheKeyOf(scope, nested(true))).not.toBe(cacheKeyOf(scope, nested(false)));
});
