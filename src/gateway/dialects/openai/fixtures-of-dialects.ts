import { chunk, delta, events, head, whole, type ProviderFixture } from './testing.ts';

const counts = { prompt_tokens: 24, completion_tokens: 3, total_tokens: 27 };

const mistralThought = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm, 2 and 2.' }] }];
const mistralUsage = { prompt_tokens: 10, total_tokens: 30, completion_tokens: 20 };

/** Parts in the content. */
export const mistral: ProviderFixture = {
  provider: 'Mistral with thoughts in the content and calls of one piece',
  stream: [
    events(
      chunk('magistral-medium', { role: 'assistant', content: '' }),
      chunk('magistral-medium', { content: mistralThought }),
      chunk('magistral-medium', { content: [{ type: 'text', text: 'Four' }] }),
      chunk('magistral-medium', { content: '.' }),
      {
        ...chunk(
          'magistral-medium',
          {
            content: '',
            tool_calls: [
              { id: 'D681PevKs', function: { name: 'check', arguments: '{"sum":4}' }, index: 0 },
            ],
          },
          'tool_calls',
        ),
        usage: mistralUsage,
      },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'magistral-medium',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: [...mistralThought, { type: 'text', text: 'Four.' }],
          tool_calls: [
            { id: 'D681PevKs', function: { name: 'check', arguments: '{"sum":4}' }, index: 0 },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: mistralUsage,
  },
};

const filters = { hate: { filtered: false, severity: 'safe' } };

/** Filters around the answer. */
export const azure: ProviderFixture = {
  provider: 'Azure with filter results and an empty first chunk',
  stream: [
    events(
      {
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }],
      },
      chunk('gpt-4o', { role: 'assistant', content: '', refusal: null }),
      {
        ...head,
        model: 'gpt-4o',
        choices: [{ ...delta({ content: 'Hi' }), content_filter_results: filters }],
      },
      {
        ...head,
        model: 'gpt-4o',
        choices: [{ ...delta({}, 'content_filter'), content_filter_results: filters }],
      },
      { ...head, model: 'gpt-4o', choices: [], usage: counts },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'gpt-4o',
    prompt_filter_results: [],
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi', refusal: null },
        content_filter_results: filters,
        finish_reason: 'content_filter',
      },
    ],
    usage: counts,
  },
};

const routerDetails = [
  {
    type: 'reasoning.text',
    text: 'Think',
    signature: 'EqoB',
    format: 'anthropic-claude-v1',
    index: 0,
  },
  { type: 'reasoning.encrypted', data: 'c2VjcmV0', format: 'anthropic-claude-v1', index: 1 },
];

/** Details of thoughts. */
export const openRouter: ProviderFixture = {
  provider: 'OpenRouter with comments, signed thoughts and cache writes',
  stream: [
    ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n',
    events(
      chunk('anthropic/claude-sonnet-4', {
        role: 'assistant',
        content: '',
        reasoning: 'Think',
        reasoning_details: [{ ...routerDetails[0], signature: undefined }],
      }),
      chunk('anthropic/claude-sonnet-4', {
        content: '',
        reasoning_details: [{ type: 'reasoning.text', signature: 'EqoB', index: 0 }],
      }),
      chunk('anthropic/claude-sonnet-4', { content: '', reasoning_details: [routerDetails[1]] }),
      chunk('anthropic/claude-sonnet-4', { role: 'assistant', content: 'Done' }),
      chunk('anthropic/claude-sonnet-4', { content: '' }, 'stop'),
      {
        ...chunk('anthropic/claude-sonnet-4', { role: 'assistant', content: '' }),
        usage: { ...counts, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 7 } },
      },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'anthropic/claude-sonnet-4',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Done',
          reasoning: 'Think',
          reasoning_details: routerDetails,
        },
        finish_reason: 'stop',
      },
    ],
    usage: { ...counts, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 7 } },
  },
};

/** Signed calls. */
export const gemini: ProviderFixture = {
  provider: "Gemini's OpenAI endpoint: calls without numbers, thoughts only in the total",
  stream: [
    events(
      chunk('gemini-2.5-pro', {
        role: 'assistant',
        tool_calls: [
          {
            id: 'function-call-1',
            type: 'function',
            function: { name: 'one', arguments: '{}' },
            extra_content: { google: { thought_signature: 'CpcC' } },
          },
        ],
      }),
      chunk('gemini-2.5-pro', {
        tool_calls: [
          { id: 'function-call-2', type: 'function', function: { name: 'two', arguments: '{}' } },
        ],
      }),
      {
        ...chunk('gemini-2.5-pro', { role: 'assistant' }, 'tool_calls'),
        usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 100 },
      },
    ),
    'data: [DONE]\n\n',
  ].join(''),
  answer: {
    ...whole,
    model: 'gemini-2.5-pro',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          tool_calls: [
            {
              id: 'function-call-1',
              type: 'function',
              function: { name: 'one', arguments: '{}' },
              extra_content: { google: { thought_signature: 'CpcC' } },
            },
            { id: 'function-call-2', type: 'function', function: { name: 'two', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 100 },
  },
};
