import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiChunk,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: `${upstream.url}/v1`,
    apiKey: 'sk-up',
    models: [{ name: 'm', inputCostPerMToken: 3, outputCostPerMToken: 15 }],
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];

test("OpenAI's bytes go through as they are, both ways", async () => {
  const odd = `{ "id":"x" ,"unknown":[1.0, 2e2],${JSON.stringify(openAiAnswer('hello')).slice(1)}`;
  upstream.script(json(odd));
  const sent =
    '{"temperature":1.50, "model":"m","messages":[{"role":"user","content":"h\\u00fc"}],"x-new":{"a":1.0}}';
  const answer = await gateway.call('POST', '/v1/chat/completions', sent);
  expect(answer.status).toBe(200);
  expect(answer.text).toBe(odd);
  const received = upstream.received.at(-1);
  expect(received?.text).toBe(sent);
  expect(received?.path).toBe('/v1/chat/completions');
  expect(received?.headers.authorization).toBe('Bearer sk-up');
  expect(answer.headers.get('x-gateway-provider')).toBe('up');
  expect(answer.headers.get('x-gateway-cost')).toBe('0.000105');
});

test('a byte-order mark in front of a body stays here', async () => {
  upstream.script(json(openAiAnswer('hello')));
  const sent = JSON.stringify({ model: 'm', messages });
  expect((await gateway.call('POST', '/v1/chat/completions', `\u{FEFF}${sent}`)).status).toBe(200);
  expect(upstream.received.at(-1)?.text).toBe(sent);
});

test.each(['/v1/chat/completions', '/v1/messages', '/v1/responses'])(
  "no provider sees the gateway's own fields, sent to %s",
  async (path) => {
    await gateway.put('ant', {
      dialect: 'anthropic',
      baseUrl: `${upstream.url}/v1`,
      models: [{ name: 'a' }],
    });
    const own = { routing_strategy: 'quality', cache: { enabled: false }, fallbacks: ['m'] };
    for (const model of ['m', 'a']) {
      upstream.script(json({ error: { message: 'enough', type: 'invalid_request_error' } }, 400));
      const body = { model, max_tokens: 5, messages, input: 'hi', ...own };
      const { input: _, ...chat } = body;
      const { messages: __, max_tokens: ___, ...response } = body;
      await gateway.call('POST', path, path.endsWith('responses') ? response : chat);
      const sent = upstream.received.at(-1)?.body;
      expect(sent.model).toBe(model);
      for (const name of Object.keys(own)) expect(sent).not.toHaveProperty(name);
    }
  },
);

test("the interface's endpoint says who answered and what it cost", async () => {
  upstream.script(json(openAiAnswer('hello')));
  const answer = await gateway.call('POST', '/api/v1/chat/completions', { model: 'm', messages });
  expect(answer.body).toMatchObject({
    object: 'chat.completion',
    provider: 'up',
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.000105 },
    choices: [{ message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  });
});

test("OpenAI's stream goes through, less the usage that nobody asked for", async () => {
  const texts = openAiStream(['one ', 'two ']);
  upstream.script(stream(texts));
  const answer = await gateway.call('POST', '/v1/chat/completions', {
    model: 'm',
    messages,
    stream: true,
  });
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const expected = texts.filter((text) => !text.includes('"choices":[]'));
  expect(answer.text).toBe(expected.join(''));
  expect(upstream.received.at(-1)?.body.stream_options).toEqual({ include_usage: true });
});

test('a stream that asks for its usage gets it untouched under /v1, with the cost elsewhere', async () => {
  const texts = openAiStream(['one ', 'two ']);
  upstream.script(stream(texts));
  const body = { model: 'm', messages, stream: true, stream_options: { include_usage: true } };
  const plain = await gateway.call('POST', '/v1/chat/completions', body);
  expect(plain.text).toBe(texts.join(''));
  const annotated = await gateway.call('POST', '/api/v1/chat/completions', body);
  expect(annotated.text).toContain('"usage":{"cost":0.00006,"prompt_tokens":10');
  expect(annotated.text).toContain('data: {"provider":"up",');
});

test('a caller who does not read neither ends the process nor fills its memory', async () => {
  const piece = openAiChunk({ content: 'x'.repeat(60_000) });
  let isCut = false;
  upstream.script((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    response.on('close', () => (isCut = true));
    for (let times = 0; times < 600; times += 1) response.write(piece);
  });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.user}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages, stream: true }),
  });
  expect(answer.status).toBe(200);
  await vi.waitFor(() => expect(isCut).toBe(true), { timeout: 30_000, interval: 50 });
  const text = await answer.text();
  expect(text).not.toContain('[DONE]');
  upstream.script(json(openAiAnswer('still there')));
  expect(
    (await gateway.call('POST', '/v1/chat/completions', { model: 'm', messages })).status,
  ).toBe(200);
});

test('a slow caller gets all of an answer whose provider has closed the connection', async () => {
  const pieces = openAiStream(Array.from({ length: 40 }, () => 'y'.repeat(60_000)));
  upstream.script((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    for (const one of pieces) response.write(one);
    response.end();
  });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.user}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages, stream: true }),
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const text = await answer.text();
  expect(text.length).toBeGreaterThan(2_400_000);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('a provider is asked for no compression, and once where it compresses all the same', async () => {
  upstream.received.length = 0;
  upstream.script(json(openAiAnswer('hello'), 200, { 'content-encoding': 'gzip' }));
  const answer = await gateway.call('POST', '/v1/chat/completions', { model: 'm', messages });
  expect(answer.status).toBe(502);
  expect(answer.body.error.message).toContain('up answered in the coding gzip');
  expect(upstream.received.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
});

test("the interface's answer says what it is and what it took, whatever its provider leaves out", async () => {
  const { choices } = openAiAnswer('hello');
  upstream.script(
    json({ choices, created: null, usage: { prompt_tokens: 10, completion_tokens: 5 } }),
  );
  const before = Math.floor(Date.now() / 1000);
  const answer = await gateway.call('POST', '/api/v1/chat/completions', { model: 'm', messages });
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^chat_[0-9a-f]{32}$/),
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'm',
    provider: 'up',
    choices,
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.000105 },
  });
  expect(answer.body.created).toBeGreaterThanOrEqual(before);
  upstream.script(json(openAiAnswer('hello', { created: 1_700_000_000.75 })));
  const { body } = await gateway.call('POST', '/api/v1/chat/completions', { model: 'm', messages });
  expect(body).toMatchObject({ id: 'chatcmpl-up', created: 1_700_000_000, model: 'up-model' });
});

test.each([
  ['no space behind `data:`', (text: string) => text.replace(/^data: /, 'data:')],
  ['lines that end with CR LF', (text: string) => text.replaceAll('\n', '\r\n')],
  ['lines that end with CR', (text: string) => text.replaceAll('\n', '\r')],
])("the interface's stream has lines `data: `, also of a provider with %s", async (_, frame) => {
  const texts = openAiStream(['says\u2028data:{', ' and data: [DONE]']);
  upstream.script(stream(texts.map(frame)));
  const body = { model: 'm', messages, stream: true };
  const plain = await gateway.call('POST', '/api/v1/chat/completions', body);
  const expected = texts.filter((text) => !text.includes('"choices":[]'));
  expect(plain.text).toBe(expected.join(''));
  const passed = await gateway.call('POST', '/v1/chat/completions', body);
  expect(passed.text).toBe(expected.map(frame).join(''));
});
