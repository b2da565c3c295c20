import { expect, test } from 'vitest';
import { modelCallsOf, type ModelSpan } from './model-calls.ts';

function span(tags: Record<string, unknown>): ModelSpan {
  return {
    spanId: 'a',
    name: 'chat',
    service: 'gateway',
    agent: 'gateway',
    status: 'success',
    durationUs: 1,
    offsetUs: 0,
    tags,
  };
}

test('a call of a model is known by its model, in any spelling', () => {
  const [call] = modelCallsOf([
    span({
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'asked',
      'gen_ai.response.model': 'answered',
      'gen_ai.usage.prompt_tokens': 12,
      'gen_ai.usage.output_tokens': '7',
      'ennead.cost': 0.5,
    }),
  ]);
  expect(call).toMatchObject({
    operation: 'chat',
    provider: 'openai',
    model: 'answered',
    inputTokens: 12,
    outputTokens: 7,
    cachedTokens: undefined,
    costUsd: 0.5,
  });
  expect(modelCallsOf([span({ 'llm.model_name': 'm' })])).toHaveLength(1);
});

test('tools and agents are told too, other spans are not', () => {
  const calls = modelCallsOf([
    span({ 'gen_ai.tool.name': 'search' }),
    span({ 'openinference.span.kind': 'AGENT' }),
    span({ 'http.route': '/' }),
  ]);
  expect(calls.map(({ tool, operation }) => [tool, operation])).toEqual([
    ['search', ''],
    ['', 'agent'],
  ]);
});
