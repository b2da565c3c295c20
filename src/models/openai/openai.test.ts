import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { describeModel, scriptedEnd, ScriptedInference } from '../inference/testing.ts';
import { collect, startDialects } from '../dialects-testing.ts';

const chatModel = describeModel('tiny');
const embedder = describeModel('ennead-embed', {
  capabilities: ['embedding'],
  embeddingDimensions: 4,
});
const inference = new ScriptedInference([chatModel, embedder]);
const call = { id: 'call_1', name: 'weather', arguments: { city: 'Bern', days: 2 } };
const text = (content: string) => ({ type: 'text', text: content }) as const;

let service: Awaited<ReturnType<typeof startDialects>>;
let client: OpenAI;

beforeAll(async () => {
  service = await startDialects(inference);
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.token, maxRetries: 0 });
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(() => {
  inference.events = [text('Good '), text('morning'), scriptedEnd];
  inference.requests.length = 0;
});

const messages = [{ role: 'user', content: 'Hello' }] as const;
const tool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Says the weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
} as const;

describe('failures', () => {
  test('an unknown model is 404 in OpenAI’s envelope', async () => {
    const refusal = await client.chat.completions
      .create({ model: 'nope', messages: [...messages] })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NotFoundError);
    expect(refusal).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'invalid_request_error',
    });
    await expect(client.models.retrieve('nope')).rejects.toBeInstanceOf(NotFoundError);
  });

  test('without a token, or with a bad one, the answer is 401', async () => {
    const stranger = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'a.b.c', maxRetries: 0 });
    const refusal = await stranger.models.list().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AuthenticationError);
    expect(refusal).toMatchObject({ type: 'authentication_error', code: 'invalid_token' });
  });

  test('a model that fails before its first word gives a status, streamed or not', async () => {
    inference.events = [new Fault('exhausted', 'the queue is full', { retryAfter: 3 })];
    for (const stream of [false, true]) {
      const refusal = await client.chat.completions
        .create({ model: 'tiny', messages: [...messages], stream })
        .catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(RateLimitError);
      expect(refusal).toMatchObject({ type: 'rate_limit_error' });
    }
  });

  test('a model that fails half-way ends the stream with an error, never as if complete', async () => {
    inference.events = [text('Good '), new Fault('unavailable', 'the local model process died')];
    const stream = await client.chat.completions.create({
      model: 'tiny',
      messages: [...messages],
      stream: true,
    });
    const seen: unknown[] = [];
    const failure = await (async () => {
      for await (const chunk of stream) seen.push(chunk.choices[0]?.finish_reason);
    })().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ error: { message: 'the local model process died' } });
    expect(seen).toEqual([null, null]);
  });

  test('a client that gives up waiting for a whole answer ends the generation', async () => {
    inference.isEndless = true;
    inference.events = [text('Good ')];
    const before = inference.abandoned;
    const leaving = new AbortController();
    const answer = client.chat.completions.create(
      { model: 'tiny', messages: [...messages] },
      { signal: leaving.signal },
    );
    await expect.poll(() => inference.requests.length).toBe(1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => inference.abandoned).toBe(before + 1);
    inference.isEndless = false;
  });

  test('a client that leaves ends the generation', async () => {
    inference.isEndless = true;
    inference.events = [text('Good ')];
    const before = inference.abandoned;
    const stream = await client.chat.completions.create({
      model: 'tiny',
      messages: [...messages],
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Good ') break;
    await expect.poll(() => inference.abandoned).toBe(before + 1);
    inference.isEndless = false;
  });
});

describe('chat completions', () => {
  test('a whole answer has the text, the reason and the real usage', async () => {
    const answer = await client.chat.completions.create({ model: 'tiny', messages: [...messages] });
    expect(answer).toEqual({
      id: expect.stringMatching(/^chatcmpl/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'tiny',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Good morning', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(inference.caller?.subject).toBe('usr_test');
  });

  test('a stream has the role, each text, the reason, and the usage when asked for', async () => {
    inference.events = [text('Good '), text('day'), { ...scriptedEnd, finishReason: 'length' }];
    const stream = await client.chat.completions.create({
      model: 'tiny',
      messages: [...messages],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const [first] = chunks;
    const head = {
      id: first!.id,
      object: 'chat.completion.chunk',
      created: first!.created,
      model: 'tiny',
    };
    const chunk = (delta: object, reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      usage: null,
    });
    expect(chunks).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Good ' }),
      chunk({ content: 'day' }),
      chunk({}, 'length'),
      {
        ...head,
        choices: [],
        usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      },
    ]);
  });

  test('tokens of the prompt that were remembered are told', async () => {
    const usage = { ...scriptedEnd.usage, cachedPromptTokens: 9 };
    inference.events = [text('Hi'), { ...scriptedEnd, usage }];
    const answer = await client.chat.completions.create({ model: 'tiny', messages: [...messages] });
    expect(answer.usage?.prompt_tokens_details).toEqual({ cached_tokens: 9 });
  });

  test.each([
    [{ content: null, refusal: 'I can’t help.' }, 'I can’t help.'],
    [{ content: [{ type: 'refusal' as const, refusal: 'I can’t help.' }] }, 'I can’t help.'],
    [{ content: 'Well. ', refusal: 'I can’t help.' }, 'Well. I can’t help.'],
  ])('what another model refused is a text of the chat: %j', async (said, content) => {
    await client.chat.completions.create({
      model: 'tiny',
      messages: [...messages, { role: 'assistant', ...said }, ...messages],
    });
    const read = [...messages, { role: 'assistant', content }, ...messages];
    expect(inference.requests.at(-1)?.prompt).toEqual({ messages: read });
  });

  test('a stream says nothing of the usage unless asked', async () => {
    const stream = await client.chat.completions.create({
      model: 'tiny',
      messages: [...messages],
      stream: true,
    });
    const chunks = await collect(stream);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  });

  test('a strict tool is asked for as such', async () => {
    const strict = { ...tool, function: { ...tool.function, strict: true } };
    const loose = { ...tool, function: { ...tool.function, strict: null } };
    const tools = [strict, loose];
    await client.chat.completions.create({ model: 'tiny', messages: [...messages], tools });
    const named = { name: 'weather', isStrict: true };
    expect(inference.requests).toMatchObject([{ tools: [named, { name: 'weather' }] }]);
    expect(inference.requests[0]?.tools?.[1]).not.toHaveProperty('isStrict');
  });

  test('tool calls come whole, with arguments as text', async () => {
    const second = { ...call, id: 'call_2', arguments: {} };
    inference.events = [
      { type: 'tool-call', call },
      { type: 'tool-call', call: second },
      { ...scriptedEnd, finishReason: 'tool-calls' },
    ];
    const request = { model: 'tiny', messages: [...messages], tools: [tool] };
    const { choices } = await client.chat.completions.create(request);
    const expected = [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Bern","days":2}' },
      },
      { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{}' } },
    ];
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { role: 'assistant', content: null, tool_calls: expected },
    });
    const whole = await client.chat.completions.stream(request).finalChatCompletion();
    expect(whole.choices[0]?.finish_reason).toBe('tool_calls');
    expect(whole.choices[0]?.message.tool_calls).toMatchObject(expected);
    const single = await client.chat.completions.create({ ...request, parallel_tool_calls: false });
    expect(single.choices[0]?.message.tool_calls).toEqual([expected[0]]);
  });

  test('tool calls stream as a head with the name, then the arguments', async () => {
    inference.events = [
      text('Let me see.'),
      { type: 'tool-call', call },
      { ...scriptedEnd, finishReason: 'tool-calls' },
    ];
    const stream = await client.chat.completions.create({
      model: 'tiny',
      messages: [...messages],
      tools: [tool],
      stream: true,
    });
    const deltas = (await collect(stream)).map(({ choices }) => choices[0]?.delta);
    const head = { name: 'weather', arguments: '' };
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Let me see.' },
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: head }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"city":"Bern","days":2}' } }] },
      {},
    ]);
  });

  test('every option reaches the model, and null is the same as absent', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    await client.chat.completions.create({
      model: 'tiny',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is ' },
            { type: 'text', text: 'up?' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Bern"}' },
            },
          ],
        },
        { role: 'tool', content: 'Rain', tool_call_id: 'call_1' },
      ],
      max_tokens: 5,
      max_completion_tokens: 9,
      temperature: 0,
      top_p: 0,
      frequency_penalty: 1,
      presence_penalty: -1,
      seed: 3,
      stop: 'END',
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
      n: null,
      logit_bias: null,
      user: 'somebody',
    });
    expect(inference.requests).toEqual([
      {
        prompt: {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'What is up?' },
            {
              role: 'assistant',
              content: '',
              toolCalls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Bern' } }],
            },
            { role: 'tool', content: 'Rain', callId: 'call_1' },
          ],
        },
        maxTokens: 9,
        temperature: 0,
        topP: expect.closeTo(0, 5),
        frequencyPenalty: 1,
        presencePenalty: -1,
        seed: 3,
        stop: ['END'],
        tools: [tool.function],
        toolChoice: { name: 'weather' },
        format: { type: 'json', schema },
      },
    ]);
    const nulls = {
      model: null,
      mirostat: 0,
      temperature: null,
      max_tokens: null,
      stop: null,
      tools: null,
      stream: null,
    };
    const { status } = await service.post('/v1/chat/completions', { messages, ...nulls, top_k: 7 });
    expect(status).toBe(200);
    expect(inference.requests.at(-1)).toEqual({ prompt: { messages: [...messages] }, topK: 7 });
  });
});

test('what a model thought is told beside what it says', async () => {
  inference.events = [
    { type: 'reasoning', text: 'Is it ' },
    { type: 'reasoning', text: 'morning?' },
    text('Yes.'),
    scriptedEnd,
  ];
  const whole = await client.chat.completions.create({ model: 'tiny', messages: [...messages] });
  expect(whole.choices[0]?.message).toMatchObject({
    content: 'Yes.',
    reasoning_content: 'Is it morning?',
  });
  const chunks = await collect(
    await client.chat.completions.create({ model: 'tiny', messages: [...messages], stream: true }),
  );
  expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
    { role: 'assistant', content: '' },
    { reasoning_content: 'Is it ' },
    { reasoning_content: 'morning?' },
    { content: 'Yes.' },
    {},
  ]);
});
