import { azure, gemini, mistral, openRouter } from './fixtures-of-dialects.ts';
import { chunk, delta, events, head, whole, type ProviderFixture } from './testing.ts';

const openAiModel = { ...head, model: 'gpt-4o-2024-08-06', system_fingerprint: 'fp_fc9f1d7035' };
const openAiUsage = {
  prompt_tokens: 1117,
  completion_tokens: 46,
  total_tokens: 1163,
  prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

const openAi: ProviderFixture = {
  provider: 'OpenAI with two calls at once',
  stream: [
    events(
      {
        ...openAiModel,
        choices: [delta({ role: 'assistant', content: 'Let me see.' })],
        usage: null,
      },
      ...[
        { index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '' } },
        { index: 0, function: { arguments: '{"city":' } },
        { index: 1, id: 'call_b', type: 'function', function: { name: 'time', arguments: '' } },
        { index: 0, function: { arguments: '"Łódź"}' } },
        { index: 1, function: { arguments: '{}' } },
      ].map((call) => ({ ...openAiModel, choices: [delta({ tool_calls: [call] })], usage: null })),
      { ...openAiModel, choices: [delta({}, 'tool_calls')], usage: null },
      { ...openAiModel, choices: [], usage: openAiUsage },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...openAiModel,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Let me see.',
          tool_calls: [
            {
              id: 'call_a',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Łódź"}' },
            },
            { id: 'call_b', type: 'function', function: { name: 'time', arguments: '{}' } },
          ],
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: openAiUsage,
  },
};

const deepSeekUsage = {
  prompt_tokens: 19,
  completion_tokens: 213,
  total_tokens: 232,
  prompt_cache_hit_tokens: 12,
  prompt_cache_miss_tokens: 7,
  completion_tokens_details: { reasoning_tokens: 198 },
};

const deepSeek: ProviderFixture = {
  provider: 'DeepSeek that thinks',
  stream: [
    events(
      chunk('deepseek-reasoner', { role: 'assistant', content: null, reasoning_content: '' }),
      chunk('deepseek-reasoner', { content: null, reasoning_content: '9.11 or ' }),
      chunk('deepseek-reasoner', { content: null, reasoning_content: '9.8?' }),
      chunk('deepseek-reasoner', { content: '9.8', reasoning_content: null }),
      {
        ...chunk('deepseek-reasoner', { content: '', reasoning_content: null }, 'stop'),
        usage: deepSeekUsage,
      },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'deepseek-reasoner',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: '9.8', reasoning_content: '9.11 or 9.8?' },
        finish_reason: 'stop',
      },
    ],
    usage: deepSeekUsage,
  },
};

const groqUsage = { queue_time: 0.01, prompt_tokens: 24, completion_tokens: 3, total_tokens: 27 };

const groq: ProviderFixture = {
  provider: 'Groq with its own place for usage',
  stream: [
    events(
      {
        ...chunk('llama-3.3-70b-versatile', { role: 'assistant', content: '' }),
        x_groq: { id: 'req_01' },
      },
      chunk('llama-3.3-70b-versatile', { content: 'Hello' }),
      {
        ...chunk('llama-3.3-70b-versatile', {}, 'stop'),
        x_groq: { id: 'req_01', usage: groqUsage },
      },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'llama-3.3-70b-versatile',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
    ],
    usage: groqUsage,
    x_groq: { id: 'req_01' },
  },
};

const vllm: ProviderFixture = {
  provider: 'vLLM with spaces in its JSON, counts in each chunk, and a call that ends with stop',
  stream: [
    ...[
      {
        ...chunk('qwen3', { role: 'assistant', content: '' }),
        usage: { ...groqUsage, completion_tokens: 0 },
      },
      {
        ...chunk('qwen3', { reasoning: 'Call it.' }),
        usage: { ...groqUsage, completion_tokens: 1 },
      },
      {
        ...chunk('qwen3', {
          tool_calls: [
            {
              index: 0,
              id: 'chatcmpl-tool-1',
              type: 'function',
              function: { name: 'now', arguments: '{}' },
            },
          ],
        }),
        usage: { ...groqUsage, completion_tokens: 2 },
      },
      { ...chunk('qwen3', { content: '' }, 'stop'), usage: { ...groqUsage } },
    ].map((value) => `data: ${JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')}\r\n\r\n`),
    'data: [DONE]\r\n\r\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'qwen3',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          reasoning: 'Call it.',
          tool_calls: [
            { id: 'chatcmpl-tool-1', type: 'function', function: { name: 'now', arguments: '{}' } },
          ],
        },
        finish_reason: 'stop',
      },
    ],
    usage: groqUsage,
  },
};

/** One for each way in which providers differ. */
export const fixtures: readonly ProviderFixture[] = [
  openAi,
  deepSeek,
  groq,
  mistral,
  azure,
  vllm,
  openRouter,
  gemini,
];
