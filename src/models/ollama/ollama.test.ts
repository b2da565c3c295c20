import { Ollama } from 'ollama';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { describeModel, scriptedEnd, ScriptedInference } from '../inference/testing.ts';
import { foreverMs } from './keep-alive.ts';
import { collect, startDialects } from '../dialects-testing.ts';

const inference = new ScriptedInference([
  describeModel('tiny'),
  describeModel('ennead-embed', { capabilities: ['embedding'], embeddingDimensions: 4 }),
]);
const call = { id: 'call_1', name: 'weather', arguments: { city: 'Bern', days: 2 } };
const text = (content: string) => ({ type: 'text', text: content }) as const;

let service: Awaited<ReturnType<typeof startDialects>>;
let client: Ollama;

beforeAll(async () => {
  service = await startDialects(inference);
  client = new Ollama({
    host: service.url,
    headers: { Authorization: `Bearer ${service.token}` },
  });
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(() => {
  inference.events = [text('Good '), text('morning'), scriptedEnd];
  inference.requests.length = 0;
  inference.memory.length = 0;
});

const tool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Says the weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as Date;
const counts = {
  total_duration: expect.any(Number) as number,
  load_duration: 1_500_000,
  prompt_eval_count: 11,
  prompt_eval_duration: 2_250_000,
  eval_count: 7,
  eval_duration: 3_125_000,
};

/** A request as it stands, for what the client's types would not let through. */
async function post(path: string, body: object, token = service.token) {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as { error?: string } };
}

describe('what a model here does not know is refused by name', () => {
  test.each([
    ['/api/generate', 'template', { template: '{{ .Prompt }}' }],
    ['/api/generate', 'suffix', { suffix: 'the end' }],
    ['/api/generate', 'context', { context: [1, 2] }],
    ['/api/generate', 'images', { images: ['aGk='] }],
    ['/api/generate', 'think', { think: true }],
    ['/api/chat', 'think', { think: 'high' }],
    ['/api/chat', 'logprobs', { logprobs: true }],
    ['/api/chat', 'messages[0].images', { messages: [{ role: 'user', images: ['aGk='] }] }],
    ['/api/chat', 'options.mirostat other than 0', { options: { mirostat: 2 } }],
    ['/api/generate', 'options.typical_p other than 1', { options: { typical_p: 0.5 } }],
  ])('%s %s', async (path, named, fields) => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const answer = await post(path, { model: 'tiny', prompt: 'Hello', messages, ...fields });
    expect(answer).toEqual({
      status: 400,
      body: { error: `${named} is not supported by local models` },
    });
    expect(inference.requests).toEqual([]);
  });

  test.each([
    ['options.temperature', { options: { temperature: -1 } }],
    ['options.num_predict', { options: { num_predict: -3 } }],
    ['options.num_predict', { options: { num_predict: 0 } }],
    ['options.num_ctx', { options: { num_ctx: 4096 } }],
    ['options.num_ctx', { options: { num_ctx: -1 } }],
    ['options.top_k', { options: { top_k: 1.5 } }],
    ['options.stop', { options: { stop: Array.from({ length: 17 }, () => 'x') } }],
    ['keep_alive', { keep_alive: 'soon' }],
    ['format', { format: 'xml' }],
    ['system', { system: 'Be brief.', raw: true }],
    ['model', { model: '' }],
  ])('%s that makes no sense: %j', async (named, fields) => {
    const { status, body } = await post('/api/generate', { model: 'tiny', prompt: 'a', ...fields });
    expect(status).toBe(400);
    expect(body.error).toContain(named);
    expect(inference.requests).toEqual([]);
  });

  test('a tool message that answers no call', async () => {
    const messages = [{ role: 'tool', content: 'Rain', tool_name: 'weather' }];
    const { status, body } = await post('/api/chat', { model: 'tiny', messages });
    expect(status).toBe(400);
    expect(body.error).toBe('messages[0] answers no tool call before it');
  });
});

describe('failures come in Ollama’s words', () => {
  test('an unknown model is 404', async () => {
    const refusal = { status_code: 404, error: 'there is no model nope' };
    await expect(client.generate({ model: 'nope', prompt: 'a' })).rejects.toMatchObject(refusal);
    await expect(client.chat({ model: 'nope', stream: true })).rejects.toMatchObject(refusal);
    await expect(client.show({ model: 'nope' })).rejects.toMatchObject(refusal);
  });

  test('nobody answers without a token', async () => {
    const stranger = new Ollama({ host: service.url });
    await expect(stranger.list()).rejects.toMatchObject({
      status_code: 401,
      error: 'a token is needed: Authorization: Bearer <token>',
    });
  });

  test('a model that fails before its first word gives a status, streamed or not', async () => {
    inference.events = [new Fault('exhausted', 'the queue is full')];
    const refusal = { status_code: 429, error: 'the queue is full' };
    const request = { model: 'tiny', prompt: 'a' };
    await expect(client.generate(request)).rejects.toMatchObject(refusal);
    await expect(client.generate({ ...request, stream: true })).rejects.toMatchObject(refusal);
  });

  test('a model that fails half-way ends the stream with an error line', async () => {
    inference.events = [text('Good '), new Fault('unavailable', 'the local model process died')];
    const stream = await client.generate({ model: 'tiny', prompt: 'a', stream: true });
    await expect(collect(stream)).rejects.toThrow('the local model process died');
  });

  test('a client that leaves ends the generation', async () => {
    inference.isEndless = true;
    inference.events = [text('Good ')];
    const before = inference.abandoned;
    const stream = await client.generate({ model: 'tiny', prompt: 'a', stream: true });
    const reading = collect(stream);
    await expect.poll(() => inference.requests.length).toBe(1);
    stream.abort();
    await expect(reading).rejects.toThrow();
    await expect.poll(() => inference.abandoned).toBe(before + 1);
    inference.isEndless = false;
  });
});

describe('generate', () => {
  test('a whole answer has the text, the reason, the counts and the timings', async () => {
    const answer = await client.generate({ model: 'tiny', prompt: 'Hello', system: 'Be brief.' });
    expect(answer).toEqual({
      model: 'tiny',
      created_at: createdAt,
      response: 'Good morning',
      done: true,
      done_reason: 'stop',
      ...counts,
    });
    expect(inference.requests).toEqual([
      {
        prompt: {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Hello' },
          ],
        },
      },
    ]);
  });

  test('it streams unless told otherwise, with the counts in the last line alone', async () => {
    inference.events = [text('Good '), text('day'), { ...scriptedEnd, finishReason: 'length' }];
    const line = { model: 'tiny', created_at: createdAt, done: false };
    const last = { ...line, response: '', done: true, done_reason: 'length', ...counts };
    const lines = [{ ...line, response: 'Good ' }, { ...line, response: 'day' }, last];
    const stream = await client.generate({ model: 'tiny', prompt: 'Hello', stream: true });
    expect(await collect(stream)).toEqual(lines);
    const answer = await fetch(`${service.url}/api/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tiny', prompt: 'Hello', stream: null }),
    });
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const texts = (await answer.text()).trimEnd().split('\n');
    expect(texts.map((json) => JSON.parse(json) as unknown)).toEqual(lines);
  });

  test('every option reaches the model; those of the machine have no effect', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    await client.generate({
      model: 'tiny',
      prompt: 'Once',
      raw: true,
      format: schema,
      keep_alive: '1h30m',
      options: {
        temperature: 0.5,
        top_k: 7,
        top_p: 0.9,
        min_p: 0.1,
        seed: 3,
        num_predict: 20,
        num_ctx: 2048,
        stop: ['END'],
        repeat_penalty: 1.1,
        presence_penalty: 0.5,
        frequency_penalty: -0.5,
        num_thread: 64,
        use_mmap: true,
        mirostat: 0,
        typical_p: 1,
      },
    });
    expect(inference.requests).toEqual([
      {
        prompt: { text: 'Once' },
        format: { type: 'json', schema },
        keepAliveMs: 5_400_000,
        temperature: 0.5,
        topK: 7,
        topP: 0.9,
        minP: 0.1,
        seed: 3,
        maxTokens: 20,
        stop: ['END'],
        repeatPenalty: 1.1,
        presencePenalty: 0.5,
        frequencyPenalty: -0.5,
      },
    ]);
  });

  test('what means "no limit" or "any" sets nothing, and null is the same as absent', async () => {
    const body = {
      model: 'tiny',
      prompt: 'a',
      system: null,
      template: '',
      context: [],
      suffix: '',
      think: false,
      format: '',
      keep_alive: null,
      options: { num_predict: -1, seed: -1, temperature: null, repeat_last_n: 64 },
      stream: false,
    };
    expect((await post('/api/generate', body)).status).toBe(200);
    expect(inference.requests).toEqual([
      { prompt: { messages: [{ role: 'user', content: 'a' }] } },
    ]);
  });

  test.each([
    [0, 0],
    ['0', 0],
    [30, 30_000],
    ['30', 30_000],
    ['1.5h', 5_400_000],
    ['2m500ms', 120_500],
    [-1, foreverMs],
    ['-1m', foreverMs],
    [1e300, foreverMs],
  ])('keep_alive %j is %d milliseconds', async (keepAlive, ms) => {
    await client.generate({ model: 'tiny', prompt: 'a', keep_alive: keepAlive });
    expect(inference.requests[0]?.keepAliveMs).toBe(ms);
  });

  test('without a prompt the model is loaded, or with keep_alive 0 unloaded', async () => {
    const done = { model: 'tiny', created_at: createdAt, response: '', done: true };
    expect(await client.generate({ model: 'tiny', prompt: '', keep_alive: -1 })).toEqual({
      ...done,
      done_reason: 'load',
    });
    const stream = await client.generate({
      model: 'tiny',
      prompt: '',
      keep_alive: 0,
      stream: true,
    });
    expect(await collect(stream)).toEqual([{ ...done, done_reason: 'unload' }]);
    expect(inference.memory).toEqual([`load tiny ${foreverMs}`, 'unload tiny']);
    expect(inference.requests).toEqual([]);
  });
});

describe('chat', () => {
  const messages = [{ role: 'user', content: 'Hello' }];

  test('a whole answer and a stream say the same', async () => {
    const last = {
      model: 'tiny',
      created_at: createdAt,
      done: true,
      done_reason: 'stop',
      ...counts,
    };
    const message = (content: string) => ({ message: { role: 'assistant', content } });
    expect(await client.chat({ model: 'tiny', messages })).toEqual({
      ...last,
      ...message('Good morning'),
    });
    const line = { model: 'tiny', created_at: createdAt, done: false };
    expect(await collect(await client.chat({ model: 'tiny', messages, stream: true }))).toEqual([
      { ...line, ...message('Good ') },
      { ...line, ...message('morning') },
      { ...last, ...message('') },
    ]);
  });

  test('what a model thought is told beside what it says', async () => {
    inference.events = [{ type: 'reasoning', text: 'Morning?' }, text('Yes.'), scriptedEnd];
    const whole = await client.chat({ model: 'tiny', messages });
    expect(whole.message).toEqual({ role: 'assistant', content: 'Yes.', thinking: 'Morning?' });
    const lines = await collect(await client.chat({ model: 'tiny', messages, stream: true }));
    expect(lines[0]?.message).toEqual({ role: 'assistant', content: '', thinking: 'Morning?' });
    const generated = await client.generate({ model: 'tiny', prompt: 'Hi' });
    expect(generated).toMatchObject({ response: 'Yes.', thinking: 'Morning?' });
  });

  test('tool calls come with their arguments as an object', async () => {
    inference.events = [
      text('Let me see.'),
      { type: 'tool-call', call },
      { type: 'tool-call', call: { ...call, id: 'call_2' } },
      { ...scriptedEnd, finishReason: 'tool-calls' },
    ];
    const toolCall = (id: string, index: number) => ({
      id,
      function: { index, name: 'weather', arguments: { city: 'Bern', days: 2 } },
    });
    const request = { model: 'tiny', messages, tools: [tool] };
    const whole = await client.chat(request);
    expect(whole.done_reason).toBe('stop');
    expect(whole.message).toEqual({
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [toolCall('call_1', 0), toolCall('call_2', 1)],
    });
    const lines = await collect(await client.chat({ ...request, stream: true }));
    expect(lines.map(({ message }) => message)).toEqual([
      { role: 'assistant', content: 'Let me see.' },
      { role: 'assistant', content: '', tool_calls: [toolCall('call_1', 0)] },
      { role: 'assistant', content: '', tool_calls: [toolCall('call_2', 1)] },
      { role: 'assistant', content: '' },
    ]);
  });

  test('answers of tools find their calls, by name or in order', async () => {
    const calls = ['weather', 'time', 'weather'].map((name) => ({
      function: { name, arguments: { city: 'Bern' } },
    }));
    await client.chat({
      model: 'tiny',
      messages: [
        ...messages,
        { role: 'assistant', content: '', tool_calls: calls },
        { role: 'tool', content: 'noon', tool_name: 'time' },
        { role: 'tool', content: 'rain' },
        { role: 'tool', content: 'sun', tool_name: 'weather' },
      ],
      tools: [tool],
      format: 'json',
    });
    const [request] = inference.requests;
    expect(request?.tools).toEqual([tool.function]);
    expect(request?.format).toEqual({ type: 'json' });
    const prompt = request?.prompt;
    const given = prompt && 'messages' in prompt ? prompt.messages : [];
    const [asked] = given.flatMap((message) => ('toolCalls' in message ? [message.toolCalls] : []));
    const ids = asked?.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(3);
    expect(given.slice(-3)).toEqual([
      { role: 'tool', content: 'noon', callId: ids[1] },
      { role: 'tool', content: 'rain', callId: ids[0] },
      { role: 'tool', content: 'sun', callId: ids[2] },
    ]);
  });

  test('without messages the model is loaded', async () => {
    expect(await client.chat({ model: 'tiny', messages: [] })).toEqual({
      model: 'tiny',
      created_at: createdAt,
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: 'load',
    });
    expect(inference.memory).toEqual(['load tiny undefined']);
  });
});
