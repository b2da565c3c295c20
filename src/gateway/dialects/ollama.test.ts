import { Ollama } from 'ollama';
import { describe, expect, test } from 'vitest';
import { collectAnswer } from '../conversation/collect.ts';
import type { ChatRequest, Message } from '../conversation/request.ts';
import { ollamaDialect } from './ollama.ts';
import { ask, chatOf, failureOf, readAll, SentRequest } from './testing.ts';

const { readAnswer, readUsage, openReader, openWatch, readFailure, unsupported } = ollamaDialect;
const write = (said: Partial<ChatRequest>) =>
  ollamaDialect.writeChat(chatOf(said), 'qwen3:8b').body;

const parameters = { type: 'object', properties: { place: { type: 'string' } } };
const weather = { name: 'weather', description: 'The weather of a place', parameters };
const user = (part: object) => ({ messages: [{ role: 'user', parts: [part] } as Message] });

const conversation: Message[] = [
  { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'Look' },
      { type: 'image', source: { kind: 'bytes', mediaType: 'image/png', base64: 'aGk=' } },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Rain?' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', id: 'c1', name: 'weather', arguments: '{"place":"Oslo"}' },
    ],
  },
  {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: 'c1', content: [{ type: 'text', text: 'x' }], isError: true },
    ],
  },
];

describe('a request to Ollama', () => {
  test.each<[string, Partial<ChatRequest>]>([
    ['n', { choices: 2 }],
    ['tool_choice', { toolChoice: 'required', tools: [weather] }],
    ['tool_choice', { toolChoice: { name: 'weather' }, tools: [weather] }],
    ['parallel_tool_calls', { allowsParallelCalls: false, tools: [weather] }],
    ['strict', { tools: [{ ...weather, isStrict: true }] }],
    ['image_url', user({ type: 'image', source: { kind: 'url', url: 'https://a/b.png' } })],
    ['input_audio', user({ type: 'audio', format: 'wav', base64: '' })],
    ['file', user({ type: 'file', source: { kind: 'url', url: 'https://a/b.pdf' } })],
    ['messages[0].name', { messages: [{ role: 'user', parts: [], name: 'ann' }] }],
    ['logit_bias', { extras: { logit_bias: { 1: 1 } } }],
    ['logprobs', { extras: { logprobs: true } }],
  ])('refuses %s by its name (%j)', (name, said) => {
    expect(unsupported(chatOf(said))).toBe(name);
  });

  test('never drops a part in silence', () => {
    const image = user({ type: 'image', source: { kind: 'url', url: 'https://a/b.png' } });
    expect(failureOf(() => write(image))).toMatchObject({ kind: 'rejected', param: 'image' });
  });

  test('says all else', () => {
    const said = { messages: conversation, tools: [weather], seed: 1, frequencyPenalty: 1 };
    expect(unsupported(chatOf({ ...said, output: { type: 'json' } }))).toBeUndefined();
  });

  test('has the body that the ollama client sends for the same chat, but cuts no prompt', async () => {
    const sent = new SentRequest({ message: {}, done: true });
    const client = new Ollama({ host: 'http://127.0.0.1:1', fetch: sent.fetch });
    const format = { type: 'object', properties: { a: { type: 'string' } } };
    await client.chat({
      model: 'qwen3:8b',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look', images: ['aGk='] },
        {
          role: 'assistant',
          content: 'Let me see.',
          thinking: 'Rain?',
          tool_calls: [{ function: { name: 'weather', arguments: { place: 'Oslo' } } }],
        },
        { role: 'tool', content: 'Error: x', tool_name: 'weather' },
      ],
      tools: [{ type: 'function', function: weather }],
      format,
      think: 'high',
      options: {
        num_predict: 50,
        temperature: 0,
        top_p: 0.9,
        top_k: 4,
        seed: 0,
        frequency_penalty: 1,
        presence_penalty: 2,
        stop: ['END'],
      },
    });
    const body = write({
      messages: conversation,
      tools: [weather],
      output: { type: 'schema', name: 'x', schema: format },
      reasoning: { effort: 'high' },
      maxTokens: 50,
      temperature: 0,
      topP: 0.9,
      topK: 4,
      seed: 0,
      frequencyPenalty: 1,
      presencePenalty: 2,
      stop: ['END'],
    });
    expect(body).toMatchObject({ ...(sent.body as object), truncate: false, shift: false });
    expect(sent.url).toBe('http://127.0.0.1:1/api/chat');
    expect(Object.keys(body)).toHaveLength(Object.keys(sent.body as object).length + 2);
  });

  test('without calls wanted, has no tools', () => {
    expect(write({ tools: [weather], toolChoice: 'none' })).not.toHaveProperty('tools');
  });

  test('writes tools in their order', () => {
    const names = ['zeta', 'alpha', '10', '2'];
    const tools = names.map((name) => ({ name, parameters: {} }));
    expect(write({ tools })).toMatchObject({
      tools: names.map((name) => ({ function: { name } })),
    });
  });

  test.each([
    [{ effort: 'none' }, false],
    [{ effort: 'minimal' }, 'low'],
    [{ effort: 'xhigh' }, 'high'],
    [{ budgetTokens: 3000 }, 'medium'],
  ])('thinks %j as %s', (reasoning, think) => {
    expect(write({ reasoning })).toMatchObject({ think });
  });

  test('joins the texts of a message, and goes on with an answer that was begun', () => {
    const parts = [
      { type: 'text' as const, text: 'a' },
      { type: 'text' as const, text: 'b' },
    ];
    const begun: Message = { role: 'assistant', parts: [{ type: 'text', text: 'Once ' }] };
    expect(write({ messages: [{ role: 'user', parts }, begun] }).messages).toEqual([
      { role: 'user', content: 'a\nb' },
      { role: 'assistant', content: 'Once ' },
    ]);
    expect(write({ messages: [ask('a')] }).messages).toEqual([{ role: 'user', content: 'a' }]);
  });
});

const head = { model: 'qwen3:8b', created_at: '2026-11-21T10:00:00.123456789Z' };
const call = { id: 'c1', function: { index: 0, name: 'weather', arguments: { place: 'Oslo' } } };
const counts = { prompt_eval_count: 12, eval_count: 34, total_duration: 5 };
const line = (message: object) => ({
  ...head,
  message: { role: 'assistant', ...message },
  done: false,
});
const last = { ...line({ content: '' }), done: true, done_reason: 'stop', ...counts };
const body = {
  ...line({ content: 'Let me see.', thinking: 'Rain?', tool_calls: [call] }),
  done: true,
  done_reason: 'stop',
  ...counts,
};
const lines = [
  line({ content: '', thinking: 'Rain' }),
  line({ content: '', thinking: '?' }),
  line({ content: 'Let me ' }),
  line({ content: 'see.' }),
  line({ content: '', tool_calls: [call] }),
  last,
];

const answered = {
  id: expect.stringMatching(/^chat_/) as string,
  model: 'qwen3:8b',
  createdAt: 1795255200,
  choices: [
    {
      index: 0,
      parts: [
        { type: 'reasoning', text: 'Rain?' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool-call', id: 'c1', name: 'weather', arguments: '{"place":"Oslo"}' },
      ],
      finish: 'tool-calls',
    },
  ],
  usage: { inputTokens: 12, outputTokens: 34 },
};

describe('an answer of Ollama', () => {
  test.each([
    ['no object', 'broken', 'hello'],
    ['an error', 'broken', { error: 'llama runner process has terminated' }],
    ['not done', 'truncated', { ...body, done: false }],
    ['of no model', 'broken', { ...body, done_reason: 'load' }],
  ])('that is %s is %s', (_what, kind, value) => {
    expect(failureOf(() => readAnswer(value)).kind).toBe(kind);
  });

  test('keeps thoughts, text and calls, and what it took', () => {
    expect(readAnswer(body)).toEqual(answered);
    expect(readUsage(body)).toEqual(answered.usage);
  });

  test('that ran out of tokens says so, and one without counts is an estimate', () => {
    const { prompt_eval_count: _, ...uncounted } = body;
    const answer = readAnswer({ ...uncounted, done_reason: 'length' });
    expect(answer.choices[0]?.finish).toBe('length');
    expect(answer.usage).toEqual({ inputTokens: 0, outputTokens: 34, isEstimated: true });
  });

  test.each([
    ['an error', 'broken', [lines[0], { error: 'out of memory' }]],
    ['no JSON', 'broken', [lines[0], 'oops']],
  ])('streamed with %s inside is %s', (_what, kind, values) => {
    expect(failureOf(() => readAll(openReader(), values)).kind).toBe(kind);
  });

  test('streamed says the same as whole, and ends where it is done', () => {
    expect(collectAnswer(readAll(openReader(), lines))).toEqual(answered);
    expect(readAll(openReader(), lines).at(-1)).toEqual({ type: 'end' });
    const cut = readAll(openReader(), lines.slice(0, -1)).map(({ type }) => type);
    expect(cut).not.toContain('end');
  });

  test('streamed is watched line by line', () => {
    const watch = openWatch();
    const written = lines.map((value) => `${JSON.stringify(value)}\n`);
    watch.see(Buffer.from(written.slice(0, 2).join('')));
    expect(watch).toMatchObject({ isStarted: true, isComplete: false });
    watch.see(Buffer.from(written.slice(2).join('')));
    expect(watch).toMatchObject({ isComplete: true, isEnded: true, usage: answered.usage });
  });

  test.each([
    [404, "model 'x' not found", 'missing'],
    [400, 'registry.ollama.ai/library/x does not support tools', 'rejected'],
    [400, 'the input length exceeds the context length', 'too-long'],
    [401, 'unauthorized', 'refused'],
    [429, 'too many requests', 'limited'],
    [503, 'server busy, please try again. maximum pending requests exceeded', 'limited'],
    [500, 'model requires more system memory (8 GiB) than is available', 'broken'],
  ])('that is error %i (%s) is %s', (status, error, kind) => {
    const headers = { 'retry-after': '2' };
    const failure = readFailure({ status, headers, body: { error } });
    expect(failure).toMatchObject({ kind, status, retryAfterMs: 2000 });
  });
});
