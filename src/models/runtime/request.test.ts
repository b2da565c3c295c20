import { describe, expect, test } from 'vitest';
import type { JsonSchema, Tool } from '../inference/request.ts';
import { resolveRequest } from './request.ts';

const prompt = { messages: [{ role: 'user', content: 'call it' }] } as const;

function toolOf(share: JsonSchema, isStrict?: boolean): Tool {
  const parameters = { type: 'object', properties: { share } };
  return { name: 'pay', parameters, ...(isStrict !== undefined && { isStrict }) };
}

const beyond: readonly [string, JsonSchema][] = [
  ['exclusiveMinimum', { type: 'number', exclusiveMinimum: 0.5 }],
  ['multipleOf', { type: 'integer', multipleOf: 7 }],
  ['pattern', { type: 'string', pattern: '(?=a)b' }],
  ['format', { type: 'string', format: 'iri' }],
  ['not', { not: { type: 'string' } }],
];

describe('of a tool whose schema no grammar can hold', () => {
  test.each(beyond)('%s is refused by its name when the tool is strict', (keyword, share) => {
    const tools = [{ name: 'now' }, toolOf(share, true)];
    expect(() => resolveRequest({ prompt, tools })).toThrow(
      expect.objectContaining({
        code: 'invalid',
        reason: 'unsupported_schema',
        message: expect.stringContaining(`keyword ${keyword} at #/properties/share`),
        detail: expect.objectContaining({ keyword, param: 'tools.1.function.parameters' }),
      }),
    );
  });

  test.each(beyond)('%s is let through when it is not', (_, share) => {
    for (const isStrict of [undefined, false]) {
      expect(resolveRequest({ prompt, tools: [toolOf(share, isStrict)] }).tools).toHaveLength(1);
    }
  });
});

test('a strict tool whose schema is too large is refused with the limit', () => {
  const share = { enum: Array.from({ length: 5000 }, (_, i) => `v${i}`) };
  expect(() => resolveRequest({ prompt, tools: [toolOf(share, true)] })).toThrow('at most 2000');
});

test('a strict tool has the same grammar as an answer of its schema', () => {
  const [tool] = resolveRequest({ prompt, tools: [toolOf({ type: 'integer' }, true)] }).tools;
  expect(tool?.grammar.rules).toContain('share');
});
