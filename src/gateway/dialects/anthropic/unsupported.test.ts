import { describe, expect, test } from 'vitest';
import type { ChatRequest, Message } from '../../conversation/request.ts';
import { ask, chatOf } from '../testing.ts';
import { findUnsupported } from './unsupported.ts';

const schema = (fields: object) => ({
  output: { type: 'schema' as const, name: 'a', schema: { type: 'object', ...fields } },
});
const user = (part: object) => ({ messages: [{ role: 'user', parts: [part] } as Message] });
const bytes = (mediaType: string) => ({ kind: 'bytes', mediaType, base64: 'AA==' });
const tool = { name: 't', parameters: { type: 'object' } };
const foreignCall: Message[] = [
  ask('weather?'),
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'hm', signature: 'gemini:abc' },
      { type: 'tool-call', id: 'c', name: 't', arguments: '{}' },
    ],
  },
  { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', content: [] }] },
];

const instructions: Message = { role: 'system', parts: [{ type: 'text', text: 'Be brief' }] };

const unsaid: [name: string, model: string, said: Partial<ChatRequest>][] = [
  ['messages', 'claude-sonnet-4-5', { messages: [instructions] }],
  ['messages', 'claude-sonnet-4-5', { messages: [instructions, ask('')] }],
  ['n', 'claude-sonnet-4-5', { choices: 2 }],
  ['seed', 'claude-sonnet-4-5', { seed: 0 }],
  ['frequency_penalty', 'claude-sonnet-4-5', { frequencyPenalty: 1 }],
  ['presence_penalty', 'claude-sonnet-4-5', { presencePenalty: -1 }],
  ['logit_bias', 'claude-sonnet-4-5', { extras: { logit_bias: { 1: 2 } } }],
  ['logprobs', 'claude-sonnet-4-5', { extras: { logprobs: true } }],
  ['enable_thinking', 'claude-sonnet-4-5', { extras: { enable_thinking: false } }],
  ['web_search_options', 'claude-sonnet-4-5', { extras: { web_search_options: {} } }],
  [
    'messages[0].content[0].title',
    'claude-sonnet-4-5',
    { extras: { 'messages[0].content[0].title': 't' } },
  ],
  ['verbosity', 'claude-sonnet-4-5', { extras: { verbosity: 'low' } }],
  ['temperature', 'claude-sonnet-4-5', { temperature: 1.5 }],
  ['temperature', 'claude-sonnet-4-5', { temperature: 0.2, reasoning: { effort: 'low' } }],
  ['temperature', 'claude-opus-4-7', { temperature: 0.2 }],
  ['top_p', 'claude-opus-5', { topP: 0.5 }],
  ['top_p', 'claude-sonnet-4-5', { topP: 0.5, reasoning: { effort: 'low' } }],
  ['top_p', 'claude-sonnet-4-5', { topP: 0.5, temperature: 0.5 }],
  ['stop', 'claude-sonnet-4-5', { stop: ['END', '\n'] }],
  ['top_k', 'claude-opus-5', { topK: 5 }],
  ['reasoning_effort', 'claude-3-5-haiku-20241022', { reasoning: { effort: 'low' } }],
  ['reasoning_effort', 'claude-opus-5-5', { reasoning: { effort: 'none' } }],
  ['reasoning_effort', 'claude-sonnet-4-5', { reasoning: { effort: 'low' }, maxTokens: 1000 }],
  [
    'reasoning_effort',
    'claude-sonnet-4-5',
    { reasoning: { effort: 'low' }, messages: foreignCall },
  ],
  ['tool_choice', 'claude-sonnet-4-5', { toolChoice: 'required', reasoning: { effort: 'low' } }],
  ['tool_choice', 'claude-opus-5-5', { toolChoice: { name: 't' }, tools: [tool] }],
  ['strict', 'claude-3-5-sonnet-20241022', { tools: [{ ...tool, isStrict: true }] }],
  ['response_format', 'claude-sonnet-4-5', { output: { type: 'json' } }],
  ['response_format', 'claude-sonnet-4-20250514', schema({ properties: {} })],
  ['response_format', 'claude-3-7-sonnet-latest', schema({ properties: {} })],
  ['response_format', 'claude-sonnet-4-5', schema({ properties: { a: { maxLength: 3 } } })],
  ['response_format', 'claude-sonnet-4-5', schema({ additionalProperties: { type: 'string' } })],
  ['response_format', 'claude-sonnet-4-5', schema({})],
  ['input_audio', 'claude-sonnet-4-5', user({ type: 'audio', format: 'wav', base64: '' })],
  ['image_url', 'claude-sonnet-4-5', user({ type: 'image', source: bytes('image/bmp') })],
  ['file', 'claude-sonnet-4-5', user({ type: 'file', source: bytes('application/zip') })],
  [
    'messages[0].name',
    'claude-sonnet-4-5',
    { messages: [{ role: 'user', parts: [], name: 'ann' }] },
  ],
  ['messages', 'claude-opus-4-6', { messages: [ask('a'), { role: 'assistant', parts: [] }] }],
  [
    'messages',
    'claude-sonnet-4-5',
    { messages: [{ role: 'assistant', parts: [] }], reasoning: { effort: 'low' } },
  ],
  [
    'context_management',
    'claude-sonnet-4-5',
    {
      extrasDialect: 'openai',
      extras: { context_management: [{ type: 'compaction', compact_threshold: 1000 }] },
    },
  ],
  ['mcp_servers', 'claude-sonnet-4-5', { extras: { mcp_servers: [{ url: 'https://a' }] } }],
  ['speed', 'claude-sonnet-4-5', { extras: { speed: 2 } }],
  ['thinking', 'claude-sonnet-4-5', { extras: { thinking: true } }],
  [
    'messages[0].content[0].citations',
    'claude-sonnet-4-5',
    { extrasDialect: 'anthropic', extras: { 'messages[0].content[0].citations': {} } },
  ],
];

describe('what Anthropic has no word for', () => {
  test.each(unsaid)('%s is refused by its name for %s (%j)', (name, model, said) => {
    expect(findUnsupported(chatOf(said), model)).toBe(name);
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['claude-opus-5', { temperature: 1, topP: 1, choices: 1, frequencyPenalty: 0 }],
    ['claude-sonnet-4-5', { temperature: 1, topP: 0.5 }],
    ['claude-sonnet-4-20250514', { temperature: 0.5, topP: 0.5 }],
    ['claude-sonnet-4-5', { temperature: 0, topK: 5, stop: ['x'], tools: [tool] }],
    ['claude-sonnet-4-5', schema({ properties: { a: { type: 'string' } } })],
    ['claude-sonnet-4-5', { extras: { user: 'u', metadata: { a: 'b' }, store: true } }],
    [
      'claude-sonnet-4-5',
      { extras: { logprobs: null, logit_bias: null, store: false, top_logprobs: false, tags: [] } },
    ],
    [
      'claude-sonnet-4-5',
      { extras: { thinking: { type: 'disabled' }, inference_geo: 'us', speed: 'fast' } },
    ],
    ['claude-opus-4-6', { messages: foreignCall, reasoning: { effort: 'high' } }],
    ['claude-sonnet-4-5', { messages: [ask('a'), { role: 'assistant', parts: [] }] }],
    ['some-other-model', { temperature: 0.3 }],
    ['some-other-model', { reasoning: { effort: 'low' } }],
  ])('all else is said, for %s as well (%j)', (model, said) => {
    expect(findUnsupported(chatOf(said), model)).toBeUndefined();
  });

  test('without the name upstream, the asked name tells the model', () => {
    const said = chatOf({ model: 'anthropic/claude-opus-5', temperature: 0 });
    expect(findUnsupported(said)).toBe('temperature');
  });
});
