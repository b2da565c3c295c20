import { describe, expect, test } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import { readRequest } from './request.ts';

const base = { model: 'claude-x', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
const read = (said: object) => readRequest({ ...base, ...said });
const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const assistant = (...content: unknown[]) => ({ messages: [{ role: 'assistant', content }] });

function refusalOf(said: object): Fault {
  try {
    read(said);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a request of an Anthropic client', () => {
  test.each<[string, object]>([
    ['model', { model: '' }],
    ['model', { model: undefined }],
    ['max_tokens', { max_tokens: undefined }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['messages', { messages: undefined }],
    ['messages', { messages: [] }],
    ['messages.0', { messages: ['hi'] }],
    ['messages.0.role', { messages: [{ role: 'robot', content: 'hi' }] }],
    ['messages.0.content', { messages: [{ role: 'user' }] }],
    ['messages.0.content.0', user('hi')],
    ['messages.0.content.0.type', user({ text: 'hi' })],
    ['messages.0.content.0.text', user({ type: 'text' })],
    ['messages.0.content.0.source', user({ type: 'image' })],
    [
      'messages.0.content.0.source.data',
      user({ type: 'image', source: { type: 'base64', media_type: 'image/png' } }),
    ],
    ['messages.0.content.0.source.url', user({ type: 'document', source: { type: 'url' } })],
    ['messages.0.content.0.tool_use_id', user({ type: 'tool_result' })],
    ['messages.0.content.0.is_error', user({ type: 'tool_result', tool_use_id: 'a', is_error: 1 })],
    [
      'messages.0.content.0.input',
      assistant({ type: 'tool_use', id: 'a', name: 'b', input: '{}' }),
    ],
    ['messages.0.content.0.id', assistant({ type: 'tool_use', name: 'b', input: {} })],
    ['messages.0.content.0.thinking', assistant({ type: 'thinking', signature: 'a' })],
    [
      'messages.0.content.0.cache_control.type',
      user({ type: 'text', text: 'a', cache_control: { type: 'x' } }),
    ],
    ['system', { system: 7 }],
    ['system.0.type', { system: [{ type: 'image' }] }],
    ['temperature', { temperature: 1.5 }],
    ['temperature', { temperature: '0' }],
    ['top_p', { top_p: 2 }],
    ['top_k', { top_k: -1 }],
    ['stop_sequences', { stop_sequences: 'END' }],
    ['stop_sequences.1', { stop_sequences: ['a', 1] }],
    ['stream', { stream: 'yes' }],
    ['tools', { tools: {} }],
    ['tools.0.name', { tools: [{ input_schema: {} }] }],
    ['tools.0.input_schema', { tools: [{ name: 'a' }] }],
    ['tool_choice.type', { tool_choice: { type: 'required' } }],
    ['tool_choice.name', { tool_choice: { type: 'tool' } }],
    ['thinking', { thinking: true }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['output_config.format.type', { output_config: { format: { type: 'json' } } }],
    ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
    ['output_format', { output_format: 'json' }],
    ['output_format.type', { output_format: { type: 'json' } }],
    ['output_format.schema', { output_format: { type: 'json_schema' } }],
    [
      'output_format',
      {
        output_format: { type: 'json_schema', schema: {} },
        output_config: { format: { type: 'json_schema', schema: {} } },
      },
    ],
  ])('is refused for its %s (%j)', (param, said) => {
    const fault = refusalOf(said);
    expect(fault).toMatchObject({ code: 'invalid', detail: { param } });
    expect(fault.message.startsWith(`${param}: must`)).toBe(true);
  });

  test('is read whole', () => {
    const mark = { type: 'ephemeral', ttl: '1h' };
    const request = readRequest({
      model: 'claude-x',
      max_tokens: 4000,
      system: [{ type: 'text', text: 'Be brief.', cache_control: mark }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look', cache_control: null, citations: null },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
            {
              type: 'document',
              title: 'a.pdf',
              source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
              citations: { enabled: false },
            },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Rain?', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'b3BhcXVl' },
            { type: 'text', text: 'Let me see.' },
            {
              type: 'tool_use',
              id: 't1',
              name: 'weather',
              input: { place: 'Oslo' },
              caller: { type: 'direct' },
            },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'rain', cache_control: mark },
            { type: 'tool_result', tool_use_id: 't2', is_error: true },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
      tools: [
        { name: 'weather', description: 'w', input_schema: { type: 'object' }, strict: true },
        { type: 'custom', name: 'now', input_schema: { type: 'object' }, cache_control: mark },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      temperature: 1,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      stream: true,
    });
    const cache = { ttl: '1h' };
    expect(request).toEqual({
      fieldNames: expect.objectContaining({ stop: 'stop_sequences' }) as unknown,
      model: 'claude-x',
      maxTokens: 4000,
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.', cache }] },
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'Look' },
            {
              type: 'image',
              source: { kind: 'bytes', mediaType: 'image/png', base64: 'aGk=' },
              at: 'messages[0].content[1].source',
            },
            {
              type: 'image',
              source: { kind: 'url', url: 'https://a/b.png' },
              at: 'messages[0].content[2].source',
            },
            {
              type: 'file',
              name: 'a.pdf',
              source: { kind: 'bytes', mediaType: 'application/pdf', base64: 'aGk=' },
              at: 'messages[0].content[3].source',
            },
            {
              type: 'file',
              source: { kind: 'bytes', mediaType: 'text/plain', base64: 'aGk=' },
              at: 'messages[0].content[4].source',
            },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'Rain?', signature: 'c2ln' },
            { type: 'reasoning', text: '', redacted: 'b3BhcXVl' },
            { type: 'text', text: 'Let me see.' },
            { type: 'tool-call', id: 't1', name: 'weather', arguments: '{"place":"Oslo"}' },
          ],
        },
        {
          role: 'tool',
          parts: [
            { type: 'tool-result', callId: 't1', content: [{ type: 'text', text: 'rain' }], cache },
            { type: 'tool-result', callId: 't2', content: [], isError: true },
          ],
        },
        { role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
      ],
      tools: [
        {
          name: 'weather',
          description: 'w',
          parameters: { type: 'object' },
          isStrict: true,
          strictAt: 'tools[0].strict',
        },
        { name: 'now', parameters: { type: 'object' }, cache },
      ],
      toolChoice: 'required',
      allowsParallelCalls: false,
      reasoning: { budgetTokens: 2000 },
      output: { type: 'schema', name: 'output', schema: { type: 'object' }, isStrict: true },
      temperature: 1,
      topP: 0.9,
      topK: 5,
      stop: ['END'],
      isStream: true,
      wantsUsage: true,
      extras: { metadata: { user_id: 'u' } },
      extrasDialect: 'anthropic',
    });
  });

  test.each<[string, object, object]>([
    ['a field unheard of', { container: 'c' }, { container: 'c' }],
    [
      'a tool that runs at Anthropic',
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      { 'tools[0]': { type: 'bash_20250124', name: 'bash' } },
    ],
    [
      'a hint in a tool',
      { tools: [{ name: 'a', input_schema: {}, defer_loading: true }] },
      { 'tools[0].defer_loading': true },
    ],
    [
      'a block unheard of',
      user({ type: 'search_result', source: 's' }),
      { 'messages[0].content[0]': { type: 'search_result', source: 's' } },
    ],
    [
      'a file that lies there',
      user({ type: 'image', source: { type: 'file', file_id: 'f' } }),
      { 'messages[0].content[0]': { type: 'image', source: { type: 'file', file_id: 'f' } } },
    ],
    [
      'citations',
      user({
        type: 'document',
        source: { type: 'url', url: 'https://a' },
        citations: { enabled: true },
      }),
      { 'messages[0].content[0].citations': { enabled: true } },
    ],
    [
      'a budget',
      { output_config: { task_budget: { total: 5 } } },
      { 'output_config.task_budget': { total: 5 } },
    ],
  ])('keeps %s by its place', (_what, said, extras) => {
    expect(read(said).extras).toEqual(extras);
  });

  test.each<[object, string]>([
    [{ output_config: { format: { type: 'json_schema', schema: {} } } }, 'output_config.format'],
    [{ output_format: { type: 'json_schema', schema: {} } }, 'output_format'],
  ])('is answered by the schema of %j', (said, name) => {
    expect(read(said)).toMatchObject({
      output: { type: 'schema', name: 'output', schema: {}, isStrict: true },
      extras: {},
      fieldNames: { response_format: name },
    });
  });

  test('takes the wish to clear old thoughts for granted, and no other', () => {
    const clear = (type: string) => ({ context_management: { edits: [{ type }] } });
    expect(read(clear('clear_thinking_20251015')).extras).toEqual({});
    const more = clear('clear_tool_uses_20250919');
    expect(read(more).extras).toEqual(more);
  });

  test.each<[object, object | undefined]>([
    [{}, undefined],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'adaptive' } }, { effort: 'high' }],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, { effort: 'low' }],
    [{ output_config: { effort: 'max' } }, { effort: 'xhigh' }],
  ])('thinks by %j as %j', (said, reasoning) => {
    expect(read(said).reasoning).toEqual(reasoning);
  });

  test('reads instructions among the messages, and a system prompt that is a text', () => {
    const messages = [...base.messages, { role: 'system', content: 'Now in rhymes.' }];
    expect(read({ system: 'Be brief.', messages }).messages).toMatchObject([
      { role: 'system', parts: [{ text: 'Be brief.' }] },
      { role: 'user' },
      { role: 'system', parts: [{ text: 'Now in rhymes.' }] },
    ]);
  });

  test('keeps tools in their order', () => {
    const names = ['zeta', 'alpha', '10', '2'];
    const tools = names.map((name) => ({ name, input_schema: {} }));
    expect(read({ tools }).tools.map(({ name }) => name)).toEqual(names);
  });

  test.each<[string, boolean | undefined, object]>([
    ['an own thought', undefined, { type: 'thinking', thinking: 'a', signature: 'c2ln' }],
    ['a thought of Gemini', true, { type: 'thinking', thinking: 'a', signature: 'gemini:c2ln' }],
    ['a thought that nobody signed', true, { type: 'thinking', thinking: 'a', signature: '' }],
    ['a call that was signed', true, { type: 'thinking', thinking: '', signature: 'call:c2ln' }],
    ['an encrypted one', true, { type: 'redacted_thinking', data: 'openai:c2ln' }],
  ])('with %s in its history needs translation even for Anthropic: %s', (_what, needs, block) => {
    expect(read(assistant(block, { type: 'text', text: 'b' })).needsTranslation).toBe(needs);
  });
});
