import { createAnthropic } from '@ai-sdk/anthropic';
import { describe, expect, test } from 'vitest';
import type { ChatRequest, Message } from '../../conversation/request.ts';
import { ask, chatOf, failureOf, SentRequest } from '../testing.ts';
import { writeChat } from './request.ts';

const model = 'claude-sonnet-4-5';
const write = (said: Partial<ChatRequest>, name = model) => writeChat(chatOf(said), name);

const weather = {
  name: 'weather',
  description: 'The weather of a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};

const conversation: Message[] = [
  { role: 'system', parts: [{ type: 'text', text: 'Be brief.', cache: {} }] },
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'Look' },
      { type: 'image', source: { kind: 'bytes', mediaType: 'image/png', base64: 'aGk=' } },
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
      {
        type: 'file',
        name: 'a.pdf',
        source: { kind: 'bytes', mediaType: 'application/pdf', base64: 'aGk=' },
      },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'I should ask', signature: 'c2ln' },
      { type: 'reasoning', text: '', redacted: 'b3BhcXVl' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', id: 'toolu_1', name: 'weather', arguments: '{"place":"Oslo"}' },
      { type: 'tool-call', id: 'toolu_2', name: 'weather', arguments: '{"place":"Rome"}' },
    ],
  },
  {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: 'toolu_1', content: [{ type: 'text', text: 'rain' }] },
      {
        type: 'tool-result',
        callId: 'toolu_2',
        content: [{ type: 'text', text: 'no such place' }],
        isError: true,
      },
    ],
  },
  ask('And now?'),
];

describe('a request to Anthropic', () => {
  test('refuses a call in the history whose arguments are no JSON object', () => {
    const broken: Message = {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 't', arguments: '{"a"' }],
    };
    const failure = failureOf(() => write({ messages: [ask('a'), broken, ask('b')] }));
    expect(failure).toMatchObject({ kind: 'rejected', param: 'messages' });
  });

  test('has the body that @ai-sdk/anthropic writes for the same chat', async () => {
    const sent = new SentRequest({
      type: 'message',
      id: 'm',
      model,
      content: [],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    const provider = createAnthropic({ apiKey: 'k', fetch: sent.fetch });
    const text = (value: string) => ({ type: 'text' as const, text: value });
    const call = (toolCallId: string, place: string) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName: 'weather',
      input: { place },
    });
    const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const thought = (options: Record<string, string>) => ({ anthropic: options });
    await provider(model).doGenerate({
      // It adds the thoughts, which our limit counts already.
      maxOutputTokens: 7000,
      stopSequences: ['END'],
      prompt: [
        { role: 'system', content: 'Be brief.', providerOptions: cached },
        {
          role: 'user',
          content: [
            text('Look'),
            { type: 'file', mediaType: 'image/png', data: 'aGk=' },
            { type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') },
            { type: 'file', mediaType: 'application/pdf', data: 'aGk=', filename: 'a.pdf' },
          ],
        },
        {
          role: 'assistant',
          content: [
            {
              type: 'reasoning',
              text: 'I should ask',
              providerOptions: thought({ signature: 'c2ln' }),
            },
            {
              type: 'reasoning',
              text: '',
              providerOptions: thought({ redactedData: 'b3BhcXVl' }),
            },
            text('Let me see.'),
            call('toolu_1', 'Oslo'),
            call('toolu_2', 'Rome'),
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'toolu_1',
              toolName: 'weather',
              output: { type: 'content', value: [text('rain')] },
            },
            {
              type: 'tool-result',
              toolCallId: 'toolu_2',
              toolName: 'weather',
              output: { type: 'error-text', value: 'no such place' },
            },
          ],
        },
        { role: 'user', content: [text('And now?')] },
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
      toolChoice: { type: 'auto' },
      providerOptions: {
        anthropic: {
          thinking: { type: 'enabled', budgetTokens: 2000 },
          disableParallelToolUse: true,
        },
      },
    });
    const ours = write({
      messages: conversation,
      tools: [weather],
      toolChoice: 'auto',
      allowsParallelCalls: false,
      maxTokens: 9000,
      stop: ['END'],
      reasoning: { budgetTokens: 2000 },
    });
    // A tool's words may be one text or a list of blocks: both mean the same.
    const theirs = JSON.parse(
      JSON.stringify(sent.body).replace(
        '"content":"no such place"',
        '"content":[{"type":"text","text":"no such place"}]',
      ),
    ) as object;
    expect(ours).toEqual(theirs);
  });

  test('puts neighbours of one role into one turn, and instructions in front', () => {
    const late: Message = { role: 'system', parts: [{ type: 'text', text: 'Now in rhymes.' }] };
    expect(write({ messages: [ask('a'), late, ask('b')] })).toMatchObject({
      system: [{ type: 'text', text: 'Now in rhymes.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    });
  });

  test('keeps cache marks where they stood, with how long they last', () => {
    const cache = { ttl: '1h' };
    const marked = write({
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'a', cache }] }],
      tools: [{ ...weather, cache: {} }],
    });
    const hour = { type: 'ephemeral', ttl: '1h' };
    expect(marked).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: hour }] }],
      tools: [{ name: 'weather', cache_control: { type: 'ephemeral' } }],
    });
  });

  test('leaves out the thoughts of other providers, and text without any', () => {
    const parts = [
      { type: 'reasoning' as const, text: 'hm', signature: 'gemini:c2ln' },
      { type: 'reasoning' as const, text: 'hm' },
      { type: 'text' as const, text: '' },
      { type: 'text' as const, text: 'yes' },
    ];
    expect(write({ messages: [ask('a'), { role: 'assistant', parts }, ask('b')] })).toMatchObject({
      messages: [{}, { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }, {}],
    });
  });

  test('makes ids of calls that Anthropic takes, one of each, the same for a call and its result', () => {
    const ids = ['functions.weather:0', 'functions:weather.0', 'functions_weather_0'];
    const turns = (callIds: readonly string[]): Message[] => [
      ask('a'),
      {
        role: 'assistant',
        parts: callIds.map((id) => ({ type: 'tool-call', id, name: 'weather', arguments: '' })),
      },
      {
        role: 'tool',
        parts: callIds.map((callId) => ({ type: 'tool-result', callId, content: [] })),
      },
    ];
    const written = JSON.stringify(write({ messages: turns(ids) }));
    const made = [...written.matchAll(/"id":"([\w-]+)"/g)].map(([, id]) => id);
    expect(made[0]).toMatch(/^functions_weather_0_/);
    expect(made[2]).toBe('functions_weather_0');
    expect(new Set(made).size).toBe(3);
    expect([...written.matchAll(/"tool_use_id":"([^"]*)"/g)].map(([, id]) => id)).toEqual(made);
    const later = JSON.stringify(write({ messages: turns(ids.toReversed()) }));
    for (const id of made) expect(later).toContain(`"id":"${id}"`);
  });

  test('ends an answer to go on with without white space', () => {
    const begun: Message = { role: 'assistant', parts: [{ type: 'text', text: 'Once upon \n' }] };
    expect(write({ messages: [ask('a'), begun] })).toMatchObject({
      messages: [{}, { role: 'assistant', content: [{ text: 'Once upon' }] }],
    });
  });

  test('always says a limit: the one asked for, else 4096 and what is thought', () => {
    expect(write({})).toMatchObject({ max_tokens: 4096 });
    expect(write({ maxTokens: 7 })).toMatchObject({ max_tokens: 7 });
    expect(write({ reasoning: { effort: 'low' } })).toMatchObject({ max_tokens: 4096 + 2048 });
  });

  test.each([
    [model, { effort: 'minimal' }, { type: 'enabled', budget_tokens: 1024 }, undefined],
    [model, { effort: 'high' }, { type: 'enabled', budget_tokens: 10_000 }, undefined],
    [model, { budgetTokens: 3000 }, { type: 'enabled', budget_tokens: 3000 }, undefined],
    [model, { effort: 'none' }, undefined, undefined],
    ['claude-opus-5', { effort: 'none' }, { type: 'disabled' }, undefined],
    ['claude-opus-5', { effort: 'minimal' }, { type: 'adaptive' }, { effort: 'low' }],
    ['claude-opus-5', { effort: 'xhigh' }, { type: 'adaptive' }, { effort: 'xhigh' }],
    ['claude-opus-4-6', { effort: 'xhigh' }, { type: 'adaptive' }, { effort: 'max' }],
    ['claude-opus-4-7', { budgetTokens: 5000 }, { type: 'adaptive' }, { effort: 'medium' }],
  ])('tells %s to think %j', (name, reasoning, thinking, config) => {
    const body = write({ reasoning, maxTokens: 20_000 }, name);
    expect(body.thinking).toEqual(thinking);
    expect(body.output_config).toEqual(config);
  });

  test.each([
    [model, { temperature: 1, topP: 0.5 }, { top_p: 0.5 }],
    [model, { temperature: 1, topP: 1 }, { temperature: 1 }],
    [model, { temperature: 0.5, topP: 1 }, { temperature: 0.5 }],
    ['claude-opus-5', { temperature: 1, topP: 1 }, {}],
    ['some-other', { temperature: 1, topP: 1 }, { temperature: 1, top_p: 1 }],
  ])('to %s samples by %j', (name, said, written) => {
    const { temperature, top_p: topP } = write(said, name);
    expect(JSON.parse(JSON.stringify({ temperature, top_p: topP }))).toEqual(written);
  });

  test('holds an answer to a schema whose objects are closed', () => {
    const inner = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] };
    const schema = {
      type: 'object',
      properties: { a: { type: 'array', items: inner }, properties: { anyOf: [inner] } },
    };
    const closed = { ...inner, additionalProperties: false };
    expect(write({ output: { type: 'schema', name: 'x', schema } }).output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { a: { type: 'array', items: closed }, properties: { anyOf: [closed] } },
          additionalProperties: false,
        },
      },
    });
  });

  test('writes tools in their order, whatever their names are', () => {
    const names = ['zeta', 'alpha', '10', '2'];
    const tools = names.map((name) => ({ name, parameters: {} }));
    expect(write({ tools })).toMatchObject({ tools: names.map((name) => ({ name })) });
    expect(JSON.stringify(write({ tools }))).toBe(JSON.stringify(write({ tools })));
  });

  test.each([
    ['required', undefined, { type: 'any' }],
    ['none', false, { type: 'none' }],
    [
      { name: 'weather' },
      false,
      { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    ],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [undefined, true, undefined],
  ] as const)('says the tool choice %j (parallel: %s)', (toolChoice, allowsParallelCalls, said) => {
    const body = write({ tools: [weather], toolChoice, allowsParallelCalls });
    expect(body.tool_choice).toEqual(said);
  });

  test('gives back what its own clients said, tools that run there in their place', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const body = write({
      tools: [weather],
      extrasDialect: 'anthropic',
      extras: {
        metadata: { user_id: 'u' },
        context_management: { edits: [] },
        'tools[0]': search,
        'tools[1].input_examples': [{ place: 'Oslo' }],
        'output_config.task_budget': { total: 5 },
      },
    });
    expect(body).toMatchObject({
      metadata: { user_id: 'u' },
      context_management: { edits: [] },
      tools: [search, { name: 'weather', input_examples: [{ place: 'Oslo' }] }],
      output_config: { task_budget: { total: 5 } },
    });
  });

  test('leaves out the fields that OpenAI calls the same and means differently', () => {
    const body = write({ extras: { metadata: { team: 'a' }, service_tier: 'flex', user: 'u' } });
    expect(body).not.toHaveProperty('metadata');
    expect(body).not.toHaveProperty('service_tier');
    expect(body).not.toHaveProperty('user');
  });
});
