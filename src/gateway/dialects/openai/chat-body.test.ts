import { describe, expect, it } from 'vitest';
import type { ChatRequest, Message } from '../../conversation/request.ts';
import { openAiFace } from '../../faces/openai.ts';
import { openAiDialect } from '../openai.ts';

const asked: ChatRequest = {
  model: 'm',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  isStream: false,
  extras: {},
};

function write(request: Partial<ChatRequest>, model = 'gpt-4o') {
  return openAiDialect.writeChat({ ...asked, ...request }, model).body;
}

function messagesOf(messages: readonly Message[], model?: string) {
  return write({ messages }, model)['messages'];
}

const schema = { type: 'object', properties: { city: { type: 'string' } } };

/** Everything that OpenAI's chat completions know. */
const full = {
  model: 'gpt-4o',
  messages: [
    { role: 'system', content: 'Be brief.', name: 'boss' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } },
        { type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
        },
        { type: 'file', file: { file_id: 'file-1' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      name: 'bot',
      reasoning_content: 'Look it up.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Look it up.', signature: 'EqoB' }],
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'look', arguments: '{"city": "Łódź"}' },
          extra_content: { google: { thought_signature: 'CpcC' } },
        },
        { id: 'call_2', type: 'custom', custom: { name: 'run', input: 'x' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    { role: 'assistant', content: 'A cat.', refusal: 'No more.' },
    { role: 'user', content: 'Go on' },
    { role: 'assistant', content: 'It', prefix: true },
  ],
  tools: [
    { type: 'custom', custom: { name: 'run', format: { type: 'text' } } },
    {
      type: 'function',
      function: { name: 'look', description: 'Looks.', parameters: schema, strict: true },
    },
    { type: 'function', function: { name: 'again', parameters: schema } },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
  parallel_tool_calls: false,
  max_tokens: 100,
  temperature: 0.2,
  top_p: 0.9,
  stop: ['a', 'b'],
  seed: 7,
  frequency_penalty: 0.1,
  presence_penalty: -0.1,
  n: 2,
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'answer', description: 'An answer.', schema, strict: true },
  },
  reasoning_effort: 'low',
  logit_bias: { 50256: -100 },
  logprobs: true,
  top_logprobs: 3,
  user: 'u-1',
  metadata: { a: 'b' },
  store: true,
  service_tier: 'flex',
  prediction: { type: 'content', content: 'x' },
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'wav' },
  web_search_options: {},
  verbosity: 'low',
  guided_json: schema,
};

describe('a request of an OpenAI client', () => {
  it('reaches an upstream of the same dialect with everything in it', () => {
    expect(openAiDialect.writeChat(openAiFace.read(full), 'gpt-4o').body).toEqual(full);
    expect(openAiDialect.unsupported(openAiFace.read(full))).toBeUndefined();
  });

  it('streams with the usage always asked for', () => {
    const streamed = { ...full, stream: true, stream_options: { include_obfuscation: false } };
    expect(openAiDialect.writeChat(openAiFace.read(streamed), 'gpt-4o').body).toEqual({
      ...full,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
    });
  });

  it.each([
    [{ tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } }],
    [{ response_format: { type: 'grammar', grammar: 'x' } }],
    [{ response_format: { type: 'json_object' } }],
    [{ reasoning_effort: 'default' }],
    [{ stop: 'END' }],
    [{ top_k: 40 }],
    [{ tools: [{ type: 'custom', custom: { name: 'run' } }] }],
  ])('keeps %o', (fields) => {
    const { model, messages } = full;
    const body = { model, messages, ...fields };
    expect(openAiDialect.writeChat(openAiFace.read(body), model).body).toEqual(body);
  });

  it('loses nothing of content that is of parts which only its upstream knows', () => {
    const content = [{ type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } }];
    const body = { model: 'm', messages: [{ role: 'user', content }] };
    expect(openAiDialect.writeChat(openAiFace.read(body), 'm').body).toEqual(body);
  });

  it('cannot reach into the messages by the name of a field', () => {
    const body = { ...full, 'messages[0].content': 'Obey.' };
    expect(() => openAiFace.read(body)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });
});

describe('a request of another dialect', () => {
  it.each([
    [{ topK: 5 }, 'top_k'],
    [{ extras: { container: 'c' } }, 'container'],
    [{ extras: { metadata: { user_id: 'u' } } }, undefined],
    [{ reasoning: { budgetTokens: 2000 } }, 'reasoning_effort'],
    [{ reasoning: { effort: 'none' } }, undefined],
    [{}, undefined],
  ])('is refused by the name of what cannot be said: %o', (fields, name) => {
    expect(openAiDialect.unsupported({ ...asked, ...fields }, 'gpt-4o')).toBe(name);
  });

  it('is refused where a file lies elsewhere, for no field takes its address', () => {
    const file = { type: 'file', source: { kind: 'url', url: 'https://example.org/a' } } as const;
    const messages = [{ role: 'user', parts: [file] }] as const;
    expect(openAiDialect.unsupported({ ...asked, messages })).toBe('file_url');
    expect(openAiDialect.unsupported({ ...asked, messages, extrasDialect: 'openai' })).toBe(
      'file_url',
    );
  });

  it('is refused where it ends with words that an answer is to go on from', () => {
    const messages = [{ role: 'assistant', parts: [{ type: 'text', text: '{' }] }] as const;
    expect(openAiDialect.unsupported({ ...asked, messages })).toBe('messages');
  });

  it('has documents of plain text as text, and others as files', () => {
    const file = (mediaType: string, text: string) => {
      const base64 = Buffer.from(text).toString('base64');
      return { type: 'file', name: 'a', source: { kind: 'bytes', mediaType, base64 } } as const;
    };
    const parts = [file('text/plain', 'Łódź'), file('application/pdf', '%PDF')];
    expect(messagesOf([{ role: 'user', parts }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a\n\nŁódź' },
          {
            type: 'file',
            file: { filename: 'a', file_data: 'data:application/pdf;base64,JVBERg==' },
          },
        ],
      },
    ]);
  });

  it('is written without its extras, marks and foreign proofs', () => {
    const cache = { ttl: '5m' };
    const body = write({
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.', cache }] },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'Hm', signature: 'EqoB' },
            { type: 'text', text: 'Hello' },
          ],
        },
      ],
      tools: [{ name: 'f', parameters: schema, cache }],
      extras: { metadata: { user_id: 'u' } },
    });
    expect(body).toEqual({
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'assistant', content: 'Hello' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    });
  });

  it('gives thoughts back to models that want them while they call tools', () => {
    const messages: Message[] = [
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm', signature: 'EqoB' },
          { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
        ],
      },
    ];
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const said = { role: 'assistant', content: null, tool_calls: [call] };
    expect(messagesOf(messages, 'deepseek-chat')).toEqual([{ ...said, reasoning_content: 'Hm' }]);
    expect(messagesOf(messages, 'gpt-4o')).toEqual([said]);
  });

  it('has a message for each tool result, and their images after the last of them', () => {
    const image = { type: 'image', source: { kind: 'url', url: 'https://example.org/a' } } as const;
    const result = (callId: string, text: string) =>
      ({ type: 'tool-result', callId, content: [{ type: 'text', text }] }) as const;
    const messages: Message[] = [
      {
        role: 'tool',
        parts: [
          { ...result('a', 'one'), content: [{ type: 'text', text: 'one' }, image] },
          { ...result('b', 'no such file'), isError: true },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', content: [image] }] },
      { role: 'user', parts: [{ type: 'text', text: 'Go on' }] },
    ];
    const written = { type: 'image_url', image_url: { url: 'https://example.org/a' } };
    expect(messagesOf(messages)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: 'Error: no such file',
      },
      { role: 'tool', tool_call_id: 'c', content: 'The result is in the message that follows.' },
      { role: 'user', content: [written, written] },
      { role: 'user', content: 'Go on' },
    ]);
  });

  it.each([
    ['gpt-4o', 'max_tokens'],
    ['mistral-large', 'max_tokens'],
    ['o3-mini', 'max_completion_tokens'],
    ['gpt-5', 'max_completion_tokens'],
    ['gpt-5.1-codex', 'max_completion_tokens'],
    ['openai/gpt-5-mini', 'max_completion_tokens'],
    ['openai/gpt-oss-120b', 'max_tokens'],
    ['gpt-4o3', 'max_tokens'],
  ])('limits the tokens of %s by %s', (model, name) => {
    expect(write({ maxTokens: 9 }, model)[name]).toBe(9);
  });

  it.each([
    [{ budgetTokens: 500 }, 'gpt-5', 'low'],
    [{ budgetTokens: 8000 }, 'gpt-5', 'medium'],
    [{ budgetTokens: 60_000 }, 'o3', 'high'],
    [{ effort: 'xhigh' }, 'gpt-5.2', 'xhigh'],
    [{ effort: 'xhigh' }, 'gpt-5.1-codex-max', 'xhigh'],
    [{ effort: 'xhigh' }, 'gpt-5', 'high'],
    [{ effort: 'xhigh' }, 'o3', 'high'],
    [{ effort: 'medium' }, 'gpt-5', 'medium'],
    [{ effort: 'none' }, 'gpt-5.1', 'none'],
    [{ effort: 'none' }, 'gpt-5-mini', 'minimal'],
    [{ effort: 'none' }, 'qwen3', undefined],
  ])('says how much to think: %o for %s', (reasoning, model, effort) => {
    expect(write({ reasoning }, model)['reasoning_effort']).toBe(effort);
  });
});

describe('the dialect', () => {
  it('carries keys as bearer tokens, and has one path for all models', () => {
    expect(openAiDialect.credential('k')).toEqual({ authorization: 'Bearer k' });
    expect(openAiDialect.chatPath('m', true)).toBe('/chat/completions');
    expect(openAiDialect.writeChat(asked, 'm').path).toBe('/chat/completions');
  });

  it('is not told to think little where it was told not to think, by models that always do', () => {
    const calm: ChatRequest = {
      ...asked,
      reasoning: { effort: 'none' },
      extrasDialect: 'anthropic',
    };
    expect(openAiDialect.unsupported(calm, 'o3')).toBe('thinking');
    expect(openAiDialect.unsupported(calm, 'openai/o4-mini')).toBe('thinking');
    expect(openAiDialect.unsupported(calm, 'gpt-5')).toBeUndefined();
  });
});
