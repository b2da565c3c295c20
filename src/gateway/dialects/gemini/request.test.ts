import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { describe, expect, test } from 'vitest';
import type { ChatRequest, Message, Reasoning } from '../../conversation/request.ts';
import { geminiDialect } from '../gemini.ts';
import { ask, chatOf, failureOf, SentRequest } from '../testing.ts';
import { findUnsupported } from './unsupported.ts';

const model = 'gemini-2.5-flash';
const write = (said: Partial<ChatRequest>, name = model) =>
  geminiDialect.writeChat(chatOf(said), name).body;

const parameters = {
  type: 'object',
  properties: { place: { type: 'string' } },
  required: ['place'],
};
const weather = { name: 'weather', description: 'The weather of a place', parameters };

const called = (signature?: string): Message => ({
  role: 'assistant',
  parts: [
    { type: 'reasoning', text: 'Rain?' },
    { type: 'text', text: 'Let me see.' },
    { type: 'tool-call', id: 'c1', name: 'weather', arguments: '{"place":"Oslo"}', signature },
    { type: 'tool-call', id: 'c2', name: 'weather', arguments: '{"place":"Rome"}' },
  ],
});

const results: Message = {
  role: 'tool',
  parts: [
    { type: 'tool-result', callId: 'c1', content: [{ type: 'text', text: 'rain' }] },
    { type: 'tool-result', callId: 'c2', content: [{ type: 'text', text: 'gone' }], isError: true },
  ],
};

describe('a request to Gemini', () => {
  test('is not told to think nothing where the model does not think anyway', () => {
    const asked = chatOf({ reasoning: { effort: 'none' } });
    expect(findUnsupported(asked, 'gemini-2.0-flash')).toBeUndefined();
    expect(geminiDialect.writeChat(asked, 'gemini-2.0-flash').body).not.toHaveProperty(
      'generationConfig',
    );
  });

  test.each<[string, string, Partial<ChatRequest>]>([
    ['n', model, { choices: 9 }],
    ['n', model, { choices: 2, isStream: true }],
    ['frequency_penalty', model, { frequencyPenalty: 1 }],
    ['presence_penalty', model, { presencePenalty: 1 }],
    ['stop', model, { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    ['reasoning_effort', 'gemini-3-pro', { reasoning: { effort: 'none' } }],
    ['reasoning_effort', 'gemini-2.5-pro', { reasoning: { effort: 'none' } }],
    ['reasoning_effort', 'gemini-2.0-flash', { reasoning: { effort: 'low' } }],
    ['reasoning_effort', 'gemini-1.5-pro', { reasoning: { budgetTokens: 99 } }],
    ['messages', model, { messages: [{ role: 'system', parts: [{ type: 'text', text: 'a' }] }] }],
    ['messages', model, { messages: [{ role: 'user', parts: [{ type: 'text', text: '' }] }] }],
    ['parallel_tool_calls', model, { tools: [weather], allowsParallelCalls: false }],
    ['response_format', model, { tools: [weather], output: { type: 'json' } }],
    ['messages[0].name', model, { messages: [{ role: 'user', parts: [], name: 'ann' }] }],
    ['logit_bias', model, { extras: { logit_bias: { 1: 1 } } }],
    ['logprobs', model, { extras: { logprobs: true } }],
    ['tools[0]', model, { extrasDialect: 'anthropic', extras: { 'tools[0]': { type: 'x' } } }],
  ])('refuses %s by its name for %s (%j)', (name, upstream, said) => {
    expect(findUnsupported(chatOf(said), upstream)).toBe(name);
    expect(findUnsupported(chatOf({ ...said, model: `google/${upstream}` }))).toBe(name);
  });

  test('says all else', () => {
    const said: Partial<ChatRequest> = {
      choices: 2,
      seed: 1,
      topK: 3,
      temperature: 2,
      output: { type: 'json' },
      messages: [{ role: 'user', parts: [{ type: 'audio', format: 'wav', base64: 'AA==' }] }],
      extras: { user: 'u', service_tier: 'flex' },
    };
    expect(findUnsupported(chatOf(said), model)).toBeUndefined();
  });

  test('refuses a call in the history whose arguments are no JSON object', () => {
    const broken: Message = {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 't', arguments: '[1]' }],
    };
    expect(failureOf(() => write({ messages: [broken] })).kind).toBe('rejected');
  });

  test('has the body that @ai-sdk/google writes for the same chat', async () => {
    const sent = new SentRequest({
      candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
    });
    const provider = createGoogleGenerativeAI({ apiKey: 'k', fetch: sent.fetch });
    const text = (value: string) => ({ type: 'text' as const, text: value });
    await provider(model).doGenerate({
      maxOutputTokens: 900,
      temperature: 0.5,
      topP: 0.9,
      topK: 7,
      seed: 3,
      stopSequences: ['END'],
      prompt: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            text('Look'),
            { type: 'file', mediaType: 'image/png', data: 'aGk=' },
            { type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') },
            { type: 'file', mediaType: 'audio/wav', data: 'aGk=' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Rain?' },
            text('Let me see.'),
            {
              type: 'tool-call',
              toolCallId: 'c1',
              toolName: 'weather',
              input: { place: 'Oslo' },
              providerOptions: { google: { thoughtSignature: 'c2ln' } },
            },
            {
              type: 'tool-call',
              toolCallId: 'c2',
              toolName: 'weather',
              input: { place: 'Rome' },
            },
          ],
        },
      ],
      tools: [
        {
          type: 'function',
          name: 'weather',
          description: weather.description,
          inputSchema: {
            type: 'object',
            properties: { place: { type: 'string' } },
            required: ['place'],
          },
        },
      ],
      toolChoice: { type: 'tool', toolName: 'weather' },
      providerOptions: {
        google: { thinkingConfig: { thinkingBudget: 2000, includeThoughts: true } },
      },
    });
    const body = write({
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { kind: 'bytes', mediaType: 'image/png', base64: 'aGk=' } },
            { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
            { type: 'audio', format: 'wav', base64: 'aGk=' },
          ],
        },
        called('gemini:c2ln'),
      ],
      tools: [weather],
      toolChoice: { name: 'weather' },
      maxTokens: 900,
      temperature: 0.5,
      topP: 0.9,
      topK: 7,
      seed: 3,
      stop: ['END'],
      reasoning: { budgetTokens: 2000 },
    });
    // It writes OpenAPI's schemas where Google takes JSON schemas as they are.
    const theirs = JSON.stringify(sent.body).replace('"parameters":', '"parametersJsonSchema":');
    expect(body).toEqual(JSON.parse(theirs));
    const { path } = geminiDialect.writeChat(chatOf(), model);
    expect(sent.url.endsWith(`/v1beta${path}`)).toBe(true);
  });

  test('says which answer belongs to which call, and whether it failed', () => {
    expect(write({ messages: [ask('a'), called(), results, ask('b')] })).toMatchObject({
      contents: [
        {},
        {},
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'weather', response: { output: 'rain' } } },
            { functionResponse: { id: 'c2', name: 'weather', response: { error: 'gone' } } },
            { text: 'b' },
          ],
        },
      ],
    });
  });

  test.each([
    ['gemini-3-pro', 'gemini:c2ln', 'c2ln'],
    ['gemini-3-pro', 'c2ln', 'c2ln'],
    ['gemini-3-pro', 'openai:c2ln', 'skip_thought_signature_validator'],
    ['gemini-3-pro', undefined, 'skip_thought_signature_validator'],
    [model, undefined, undefined],
  ])('for %s signs a call that came with %s by %s', (name, came, goes) => {
    const { contents } = write({ messages: [called(came)] }, name) as {
      contents: { parts: Record<string, unknown>[] }[];
    };
    const calls = contents[0]?.parts.filter((part) => 'functionCall' in part);
    expect(calls?.map((part) => part.thoughtSignature)).toEqual([goes, undefined]);
  });

  test('gives back its own signatures of texts, and no other', () => {
    const parts = (signature: string) => [
      { type: 'text' as const, text: 'yes' },
      { type: 'reasoning' as const, text: '', signature },
    ];
    const contentsFor = (signature: string) =>
      write({ messages: [{ role: 'assistant', parts: parts(signature) }] }).contents;
    expect(contentsFor('gemini:c2ln')).toEqual([
      { role: 'model', parts: [{ text: 'yes' }, { text: '', thoughtSignature: 'c2ln' }] },
    ]);
    expect(contentsFor('EqQBCkYIARgC')).toEqual([{ role: 'model', parts: [{ text: 'yes' }] }]);
  });

  test.each([
    [model, { effort: 'low' }, { thinkingBudget: 2048, includeThoughts: true }],
    [model, { effort: 'none' }, { thinkingBudget: 0 }],
    ['gemini-3-pro', { effort: 'low' }, { thinkingLevel: 'low', includeThoughts: true }],
    ['gemini-3-pro', { budgetTokens: 9000 }, { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-3-pro', { effort: 'xhigh' }, { thinkingLevel: 'high', includeThoughts: true }],
  ] as const)('tells %s to think %j', (name, reasoning, thinkingConfig) => {
    expect(write({ reasoning }, name)).toMatchObject({ generationConfig: { thinkingConfig } });
  });

  test.each([
    ['gemini-3-pro-preview', ['low', 'low', 'high', 'high']],
    ['gemini-3.1-pro-preview', ['low', 'low', 'medium', 'high']],
    ['gemini-3-flash-preview', ['minimal', 'low', 'medium', 'high']],
    ['gemini-3.1-flash-lite', ['minimal', 'low', 'medium', 'high']],
    ['gemini-3.5-flash', ['minimal', 'low', 'medium', 'high']],
    ['gemini-3.7-flash', ['low', 'low', 'medium', 'high']],
    ['gemini-3.8-flash', ['low', 'low', 'medium', 'high']],
    ['gemini-flash-latest', ['low', 'low', 'medium', 'high']],
  ])('tells %s only levels that it has', (name, levels) => {
    const tells = (reasoning: Reasoning, thinkingLevel: string | undefined) =>
      expect(write({ reasoning }, name)).toMatchObject({
        generationConfig: { thinkingConfig: { thinkingLevel } },
      });
    for (const [at, effort] of ['minimal', 'low', 'medium', 'high'].entries())
      tells({ effort }, levels[at]);
    tells({ budgetTokens: 1024 }, levels[0]);
  });

  test('holds an answer to a schema as it is', () => {
    const schema = { type: 'object', properties: { a: { maxLength: 2 } } };
    expect(write({ output: { type: 'schema', name: 'x', schema } }).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
  });

  test('writes tools in their order, and holds calls to strict ones', () => {
    const names = ['zeta', 'alpha', '10', '2'];
    const tools = names.map((name) => ({ name, parameters: {}, isStrict: name === '2' }));
    expect(write({ tools })).toMatchObject({
      tools: [{ functionDeclarations: names.map((name) => ({ name })) }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    });
  });

  test('goes to the address of the model, and of its stream', () => {
    expect(geminiDialect.chatPath('gemini-3-pro', false)).toBe(
      '/models/gemini-3-pro:generateContent',
    );
    expect(geminiDialect.writeChat(chatOf({ isStream: true }), 'a/../b').path).toBe(
      '/models/a%2F..%2Fb:streamGenerateContent?alt=sse',
    );
  });
});
