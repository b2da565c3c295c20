import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import { anthropicDialect } from '../../dialects/anthropic.ts';
import { ollamaDialect } from '../../dialects/ollama.ts';
import { openAiDialect } from '../../dialects/openai.ts';
import { openAiFace } from '../openai.ts';

const user = { role: 'user', content: 'Hi' };

function paramOf(body: Record<string, unknown>): unknown {
  try {
    openAiFace.read(body);
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid') return error.detail['param'];
    throw error;
  }
  return undefined;
}

function withMessage(message: unknown) {
  return { messages: [user, message] };
}

function withPart(part: unknown) {
  return withMessage({ role: 'user', content: [part] });
}

describe('a chat completion request', () => {
  it.each([
    ['messages', {}],
    ['messages', { messages: 'Hi' }],
    ['messages', { messages: [] }],
    ['messages[1]', withMessage('Hi')],
    ['messages[1]', withMessage(null)],
    ['messages[1].role', withMessage({ content: 'Hi' })],
    ['messages[1].role', withMessage({ role: 'robot', content: 'Hi' })],
    ['messages[1].role', withMessage({ role: 'function', name: 'f', content: 'Hi' })],
    ['messages[1].content', withMessage({ role: 'user' })],
    ['messages[1].content', withMessage({ role: 'user', content: null })],
    ['messages[1].content', withMessage({ role: 'user', content: [] })],
    ['messages[1].content', withMessage({ role: 'user', content: 7 })],
    ['messages[1].content', withMessage({ role: 'assistant', content: null })],
    ['messages[1].content', withMessage({ role: 'assistant', content: null, tool_calls: [] })],
    ['messages[1].content', withMessage({ role: 'assistant', content: 7 })],
    [
      'messages[1].content[0].type',
      withMessage({ role: 'system', content: [{ type: 'image_url' }] }),
    ],
    ['messages[1].name', withMessage({ ...user, name: 7 })],
    [
      'messages[1].function_call',
      withMessage({ role: 'assistant', content: null, function_call: { name: 'f' } }),
    ],
    ['messages[1]', withMessage({ ...user, 'a.b': 1 })],
    ['messages[1].content[0]', withPart('Hi')],
    ['messages[1].content[0].type', withPart({ text: 'Hi' })],
    ['messages[1].content[0].text', withPart({ type: 'text' })],
    ['messages[1].content[0].image_url', withPart({ type: 'image_url' })],
    [
      'messages[1].content[0].image_url.url',
      withPart({ type: 'image_url', image_url: { url: '' } }),
    ],
    [
      'messages[1].content[0].image_url.url',
      withPart({ type: 'image_url', image_url: { url: 'ftp://x' } }),
    ],
    [
      'messages[1].content[0].image_url.url',
      withPart({ type: 'image_url', image_url: { url: 'data:image/png,x' } }),
    ],
    [
      'messages[1].content[0].image_url.detail',
      withPart({ type: 'image_url', image_url: { url: 'https://x', detail: 1 } }),
    ],
    ['messages[1].content[0].input_audio', withPart({ type: 'input_audio' })],
    [
      'messages[1].content[0].input_audio.data',
      withPart({ type: 'input_audio', input_audio: { format: 'wav' } }),
    ],
    [
      'messages[1].content[0].input_audio.format',
      withPart({ type: 'input_audio', input_audio: { data: 'x', format: 'ogg' } }),
    ],
    ['messages[1].content[0].file.file_data', withPart({ type: 'file', file: { filename: 'a' } })],
    ['messages[1].tool_call_id', withMessage({ role: 'tool', content: 'x' })],
    ['messages[1].content', withMessage({ role: 'tool', tool_call_id: 'a' })],
    [
      'messages[1].content[0].type',
      withMessage({ role: 'tool', tool_call_id: 'a', content: [{ type: 'refusal' }] }),
    ],
    ['messages[1].tool_calls', withMessage({ role: 'assistant', tool_calls: {} })],
    [
      'messages[1].tool_calls[0].id',
      withMessage({ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '' } }] }),
    ],
    [
      'messages[1].tool_calls[0].function',
      withMessage({ role: 'assistant', tool_calls: [{ id: 'a' }] }),
    ],
    [
      'messages[1].tool_calls[0].function.name',
      withMessage({ role: 'assistant', tool_calls: [{ id: 'a', function: {} }] }),
    ],
    [
      'messages[1].tool_calls[0].function.arguments',
      withMessage({
        role: 'assistant',
        tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }],
      }),
    ],
  ])('is refused with the place %s', (param, body) => {
    expect(paramOf(body)).toBe(param);
  });

  it.each([
    ['model', ''],
    ['model', 7],
    ['tools', {}],
    ['tools[0]', ['f']],
    ['tools[0].type', [{}]],
    ['tools[0].function', [{ type: 'function' }]],
    ['tools[0].function.name', [{ type: 'function', function: {} }]],
    [
      'tools[0].function.parameters',
      [{ type: 'function', function: { name: 'f', parameters: 'x' } }],
    ],
    ['tools[0].function.strict', [{ type: 'function', function: { name: 'f', strict: 'x' } }]],
    ['tool_choice', 'any'],
    ['tool_choice', 7],
    ['tool_choice.type', {}],
    ['tool_choice.function', { type: 'function' }],
    ['tool_choice.function.name', { type: 'function', function: {} }],
    ['parallel_tool_calls', 'no'],
    ['max_tokens', 0],
    ['max_tokens', 1.5],
    ['max_tokens', '9'],
    ['max_completion_tokens', -1],
    ['temperature', 2.1],
    ['temperature', '0'],
    ['temperature', Number.NaN],
    ['top_p', -0.1],
    ['stop', 7],
    ['stop[1]', ['a', 7]],
    ['seed', 0.5],
    ['frequency_penalty', 3],
    ['presence_penalty', -3],
    ['n', 0],
    ['n', 1000],
    ['response_format', 'json'],
    ['response_format.type', {}],
    ['response_format.json_schema', { type: 'json_schema' }],
    ['response_format.json_schema.name', { type: 'json_schema', json_schema: {} }],
    [
      'response_format.json_schema.schema',
      { type: 'json_schema', json_schema: { name: 'a', schema: 1 } },
    ],
    ['reasoning_effort', 'huge'],
    ['reasoning_effort', 1],
    ['stream', 'yes'],
    ['functions', []],
    ['function_call', 'auto'],
  ])('is refused with the field %s at fault in %o', (param, value) => {
    const field = param.replace(/[.[].*/, '');
    expect(paramOf({ messages: [user], [field]: value })).toBe(param);
  });

  it.each([true, false])('is refused for options of a stream that are none: %s', (stream) => {
    const body = { messages: [user], stream };
    expect(paramOf({ ...body, stream_options: 'x' })).toBe('stream_options');
    expect(paramOf({ ...body, stream_options: { include_usage: 1 } })).toBe(
      'stream_options.include_usage',
    );
  });

  it('needs messages alone, and goes to any model', () => {
    expect(openAiFace.read({ messages: [user] })).toEqual({
      model: 'auto-route',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      tools: [],
      isStream: false,
      extras: {},
      extrasDialect: 'openai',
    });
  });

  it('keeps nulls out of what upstreams see', () => {
    const nulls = { temperature: null, tools: null, logprobs: null, stop: null, stream: null };
    const request = openAiFace.read({ messages: [user], ...nulls, logit_bias: { 1: 2 } });
    expect(request.extras).toEqual({ logit_bias: { 1: 2 } });
    expect(openAiFace.read({ messages: [user], logit_bias: {} }).extras).toEqual({});
  });

  it('reads every form of a prompt', () => {
    const { messages } = openAiFace.read({
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: 'https://example.org/a.png' },
            { type: 'image_url', image_url: { url: 'data:IMAGE/PNG;charset=x;base64,iVBO' } },
            { type: 'file', file: { file_data: 'JVBERi0=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'So' },
            { type: 'refusal', refusal: 'No' },
          ],
          annotations: [],
          audio: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        { role: 'tool', tool_call_id: 'a', name: 'f', content: [{ type: 'text', text: 'x' }] },
      ],
    });
    expect(messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        parts: [
          {
            type: 'image',
            source: { kind: 'url', url: 'https://example.org/a.png' },
            at: 'messages[1].content[0].image_url',
          },
          {
            type: 'image',
            source: { kind: 'bytes', mediaType: 'image/png', base64: 'iVBO' },
            at: 'messages[1].content[1].image_url',
          },
          {
            type: 'file',
            source: { kind: 'bytes', mediaType: 'application/pdf', base64: 'JVBERi0=' },
            at: 'messages[1].content[2].file',
          },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'So' },
          { type: 'refusal', text: 'No' },
          { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
        ],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'a', content: [{ type: 'text', text: 'x' }] }],
      },
    ]);
  });

  it.each([
    { nobody: 1 },
    { messages: [{ ...user, timestamp: '2026-01-31T08:00:00Z' }] },
    { messages: [{ ...user, content: [{ type: 'text', text: 'x', tone: {} }] }] },
  ])('is not refused for what no API knows: %o', (fields) => {
    const request = openAiFace.read({ messages: [user], model: 'claude-sonnet-4', ...fields });
    expect(anthropicDialect.unsupported(request, 'claude-sonnet-4-20250514')).toBeUndefined();
  });

  it.each([
    [{ tools: [{ type: 'custom', custom: { name: 'run' } }] }, 'tools[0]'],
    [{ messages: [{ ...user, content: [{ type: 'video_url' }] }] }, 'messages[0].content[0]'],
    [
      { messages: [user, { role: 'assistant', content: 'x', prefix: true }, user] },
      'messages[1].prefix',
    ],
    [{ logit_bias: { 1: 2 } }, 'logit_bias'],
    [{ web_search_options: {} }, 'web_search_options'],
    [
      { messages: [{ ...user, content: [{ type: 'text', text: 'x', citations: {} }] }] },
      'messages[0].content[0].citations',
    ],
  ])('is refused by name where another dialect has no words for %o', (fields, name) => {
    const request = openAiFace.read({ messages: [user], model: 'claude-sonnet-4', ...fields });
    const found = anthropicDialect.unsupported(request, 'claude-sonnet-4-20250514');
    expect(found).toBe(name);
  });

  it.each([
    [
      { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      'messages[1].content[1].image_url',
    ],
    [
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
      'messages[1].content[1].input_audio',
    ],
    [{ type: 'file', file: { file_data: 'JVBERi0=' } }, 'messages[1].content[1].file'],
  ])('is refused by the place of a part that Ollama does not take: %o', (part, place) => {
    const content = [{ type: 'text', text: 'x' }, part];
    const request = openAiFace.read({ messages: [user, { ...user, content }], model: 'm' });
    expect(ollamaDialect.unsupported(request)).toBe(place);
  });

  it('is refused by the place where a tool is said to be strict', () => {
    const tools = [false, true].map((strict) => ({
      type: 'function',
      function: { name: 'f', strict },
    }));
    const request = openAiFace.read({ messages: [user], model: 'm', tools });
    expect(ollamaDialect.unsupported(request)).toBe('tools[1].function.strict');
  });

  it('keeps what else a part says in its place for an upstream of the same words', () => {
    const messages = [{ ...user, content: [{ type: 'text', text: 'x', tone: {} }] }];
    const request = openAiFace.read({ messages, model: 'm' });
    expect(openAiDialect.writeChat(request, 'm').body['messages']).toEqual(messages);
  });
});
