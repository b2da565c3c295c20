import { expect, test } from 'vitest';
import { findRows, toRows, type Listed, type Provider } from './model-rows.ts';

const listed = (id: string, provider: string): Listed => ({
  id,
  object: 'model',
  created: 0,
  owned_by: provider,
});

const provider = (name: string, models: readonly string[]): Provider => ({
  name,
  status: 'healthy',
  requestsPerMinute: 0,
  averageLatency: 0,
  models: models.map((model) => ({
    name: model,
    capabilities: model.includes('embed') ? ['embedding'] : ['chat', 'tools'],
    costPerMToken: 1,
    inputCostPerMToken: 1,
    outputCostPerMToken: 1,
    contextWindow: 1_000,
  })),
});

const rows = toRows(
  [listed('one', 'a'), listed('b/one', 'b'), listed('x/embed', 'b'), listed('lost', 'c')],
  [provider('a', ['one']), provider('b', ['one', 'x/embed'])],
);

test('models are found with their providers, however they are named', () => {
  expect(rows.map(({ facts }) => facts?.name)).toEqual(['one', 'one', 'x/embed', undefined]);
});

test('a search takes words of names, providers and capabilities', () => {
  const find = (query: string) => findRows(rows, query).map(({ id }) => id);
  expect(find('ONE')).toEqual(['one', 'b/one']);
  expect(find('b tools')).toEqual(['b/one']);
  expect(find('embedding')).toEqual(['x/embed']);
  expect(find(' ')).toHaveLength(4);
});
