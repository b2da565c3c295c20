import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer } from 'node:net';
import {
  json,
  openAiAnswer,
  openAiChunk,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type Script,
  type ScriptedProvider,
} from '../../testing.ts';

let first: ScriptedProvider;
let second: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let cases = 0;

beforeAll(async () => {
  [first, second, gateway] = await Promise.all([startProvider(), startProvider(), startGateway()]);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];
const timeouts = { firstTokenMs: 400, idleMs: 400, totalMs: 1_500 };
const good = json(openAiAnswer('from the second'));
const goodStream = stream(openAiStream(['from ', 'the ', 'second']));

interface Setting {
  readonly baseUrl?: string;
  readonly isAlone?: boolean;
  readonly dialect?: string;
}

/** Two providers of one model that nobody asked before; the first one is asked first. */
async function offer(setting: Setting = {}): Promise<string> {
  cases += 1;
  const model = `m${cases}`;
  first.received.length = 0;
  second.received.length = 0;
  const common = { models: [{ name: model }], timeouts };
  await gateway.put(`a${cases}`, {
    ...common,
    dialect: 'openai',
    baseUrl: setting.baseUrl ?? `${first.url}/v1`,
  });
  if (!setting.isAlone) {
    const dialect = setting.dialect ?? 'openai';
    await gateway.put(`b${cases}`, {
      ...common,
      dialect,
      baseUrl: `${second.url}/v1`,
      priority: 1,
    });
  }
  return model;
}

const ask = (model: string, fields: Readonly<Record<string, unknown>> = {}) =>
  gateway.call('POST', '/v1/chat/completions', { model, messages, ...fields });

/** What a client made of a stream: its text, whether it is whole, and its error. */
function readStream(text: string) {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
  const data = events.map((event) => event.slice(6));
  const chunks = data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one));
  return {
    text: chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join(''),
    isWhole: data.at(-1) === '[DONE]',
    error: chunks.find(({ error }) => error)?.error,
  };
}

const hang: Script = () => {};
const drop: Script = (_received, response) => void response.destroy();
const cutBody: Script = (_received, response) => {
  const text = JSON.stringify(openAiAnswer('cut'));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.write(text.slice(0, -40));
  setTimeout(() => response.destroy(), 20);
};
const halfJson: Script = json(JSON.stringify(openAiAnswer('cut')).slice(0, -40));
const role = openAiChunk({ role: 'assistant', content: '' });
const errorEvent = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n';

describe('the next provider answers when the first one', () => {
  test.each<readonly [string, Script]>([
    ['has an error of its own', json({ error: { message: 'oops' } }, 500)],
    ['is not available', json('down for maintenance', 503)],
    ['has too many requests', json({ error: { message: 'slow' } }, 429, { 'retry-after': '30' })],
    ['closes the connection before its answer', drop],
    ['cuts its answer off on the way', cutBody],
    ['answers half of a JSON text', halfJson],
    ['answers something that is not JSON', json('<html>hello</html>')],
    ['answers an error with status 200', json({ error: { message: 'oops', code: 500 } })],
    ['answers without an answer', json(openAiAnswer('', { choices: [] }))],
    ['does not accept the key', json({ error: { message: 'bad key' } }, 401)],
    ['does not have the model', json({ error: { message: 'no such model' } }, 404)],
    ['redirects', json('', 302, { location: 'http://127.0.0.1:9/' })],
    ['does not answer in time', hang],
  ])('%s', async (_title, script) => {
    const model = await offer();
    first.script(script);
    second.script(good);
    const answer = await ask(model);
    expect(answer.status).toBe(200);
    expect(answer.body.choices[0].message.content).toBe('from the second');
    expect(answer.headers.get('x-gateway-provider')).toBe(`b${cases}`);
    expect(answer.headers.get('x-gateway-attempts')).toBe('2');
  });

  test('cannot be reached', async () => {
    const model = await offer({ baseUrl: `http://127.0.0.1:${await freePort()}/v1` });
    second.script(good);
    expect((await ask(model)).body.choices[0].message.content).toBe('from the second');
  });

  test.each<readonly [string, Script]>([
    ['never begins its stream', hang],
    ['sends no token in time', stream([role], 'hang')],
    ['ends its stream before the first token', stream([role])],
    ['cuts its stream before the first token', stream([role], 'cut')],
    ['says an error before the first token', stream([role, errorEvent])],
    ['refuses the stream', json({ error: { message: 'oops' } }, 500)],
    ['streams what makes no sense', stream(['data: {half\n\n'])],
    ['is overloaded', json({ error: { message: 'busy' } }, 529)],
  ])('%s', async (_title, script) => {
    const model = await offer();
    first.script(script);
    second.script(goodStream);
    const answer = await ask(model, { stream: true });
    expect(answer.status).toBe(200);
    expect(readStream(answer.text)).toEqual({
      text: 'from the second',
      isWhole: true,
      error: undefined,
    });
  });
});

describe('an answer that breaks off is never presented as complete:', () => {
  const begun = [role, openAiChunk({ content: 'half ' })];
  const faults: readonly (readonly [string, Script])[] = [
    ['the connection is cut', stream(begun, 'cut')],
    ['it stalls', stream(begun, 'hang')],
    ['it ends without its end', stream(begun)],
    ['an error comes in the middle', stream([...begun, errorEvent])],
    ['it ends within an event', stream([...begun, 'data: {"choices":[{"delta":{"cont'])],
    ['garbage follows', stream([...begun, 'data: {"error":{]\n\n'])],
  ];

  test.each(faults)('%s', async (_title, script) => {
    const model = await offer();
    first.script(script);
    second.script(goodStream);
    const answer = readStream((await ask(model, { stream: true })).text);
    expect(answer.text).toBe('half ');
    expect(answer.isWhole).toBe(false);
    expect(answer.error).toMatchObject({ type: 'provider_error', message: expect.any(String) });
    expect(second.received).toHaveLength(0);
  });

  test.each(faults)('%s, and somebody who can goes on with it', async (_title, script) => {
    const model = await offer({ dialect: 'anthropic' });
    first.script(script);
    second.script(
      stream([
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}\n\n',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" and whole"}}\n\n',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}\n\n',
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      ]),
    );
    const answer = readStream((await ask(model, { stream: true })).text);
    expect(answer).toEqual({ text: 'half and whole', isWhole: true, error: undefined });
    const sent = second.received[0]?.body.messages;
    expect(sent.at(-1)).toMatchObject({ role: 'assistant' });
    expect(JSON.stringify(sent.at(-1))).toContain('half');
  });
});

test('what the provider finds wrong with a request is told at once, and nobody else is asked', async () => {
  const model = await offer();
  first.script(
    json({ error: { message: "'temperature' is too high", param: 'temperature' } }, 400),
  );
  second.script(good);
  const answer = await ask(model);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({
    type: 'invalid_request_error',
    message: "'temperature' is too high",
    param: 'temperature',
  });
  expect(second.received).toHaveLength(0);
  expect(first.received).toHaveLength(1);
});

test('a provider that stands alone is asked again after the time that it names', async () => {
  const model = await offer({ isAlone: true });
  const limited = json({ error: { message: 'slow down' } }, 429, { 'retry-after': '1' });
  first.script(limited, json(openAiAnswer('at last')));
  const answer = await ask(model);
  expect(answer.body.choices[0].message.content).toBe('at last');
  expect(first.received).toHaveLength(2);
});

test('a limit that lasts too long is told, with the time to wait', async () => {
  const model = await offer({ isAlone: true });
  first.script(json({ error: { message: 'slow down' } }, 429, { 'retry-after': '120' }));
  const answer = await ask(model);
  expect(answer.status).toBe(429);
  expect(answer.headers.get('retry-after')).toBe('120');
  expect(answer.body.error).toMatchObject({ type: 'rate_limit_exceeded', retry_after: 120 });
  expect(first.received).toHaveLength(1);
  const again = await ask(model);
  expect(again.status).toBe(429);
  expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(100);
  expect(first.received).toHaveLength(1);
});

test('a provider that stands alone and does not answer in time is asked once, and told as late', async () => {
  const model = await offer({ isAlone: true });
  first.script(hang);
  const answer = await ask(model);
  expect(answer.status).toBe(504);
  expect(answer.body.error).toMatchObject({ type: 'provider_error', code: 'provider_timeout' });
  expect(first.received).toHaveLength(1);
});

test('a key that is not accepted is no loss while the provider has another', async () => {
  cases += 1;
  const model = `m${cases}`;
  first.received.length = 0;
  await gateway.put(`a${cases}`, {
    dialect: 'openai',
    baseUrl: `${first.url}/v1`,
    apiKeys: ['sk-old', 'sk-older', 'sk-good'],
    models: [{ name: model }],
  });
  first.script((received, response) => {
    const isGood = received.headers.authorization === 'Bearer sk-good';
    const script = isGood ? json(openAiAnswer('welcome')) : json({ error: { message: 'no' } }, 401);
    return script(received, response);
  });
  for (let times = 0; times < 4; times += 1) {
    expect((await ask(model)).body.choices[0].message.content).toBe('welcome');
  }
  expect(first.received.length).toBeLessThanOrEqual(6);
});

test("the operator's limit of a provider is told as one, with the time until it has room", async () => {
  cases += 1;
  const model = `m${cases}`;
  await gateway.put(`a${cases}`, {
    dialect: 'openai',
    baseUrl: `${first.url}/v1`,
    models: [{ name: model }],
    rateLimit: { requestsPerMinute: 2 },
  });
  first.script(json(openAiAnswer('within')));
  expect((await ask(model)).status).toBe(200);
  expect((await ask(model)).status).toBe(200);
  const refused = await ask(model);
  expect(refused.status).toBe(429);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(20);
  expect(wait).toBeLessThanOrEqual(30);
});

test('an answer that cannot be worded for its caller is asked for elsewhere', async () => {
  const model = await offer();
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{bad' } };
  const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] } };
  first.script(json(openAiAnswer('', { choices: [{ ...choice, finish_reason: 'tool_calls' }] })));
  second.script(good);
  const answer = await gateway.call('POST', '/v1/messages', { model, max_tokens: 9, messages });
  expect(answer.status).toBe(200);
  expect(answer.body.content[0].text).toBe('from the second');
});

test.each([
  ['nothing but its end', ['data: [DONE]\n\n']],
  ['words and no end of them', [`${openAiChunk({ content: 'wo' })}data: [DONE]\n\n`]],
  ['no more than a role', [openAiChunk({ role: 'assistant', content: '' }), 'data: [DONE]\n\n']],
])('a stream that holds %s goes to the next candidate', async (_, events) => {
  const model = await offer();
  first.script(stream(events));
  second.script(goodStream);
  const answer = await ask(model, { stream: true });
  expect(answer.text).toContain('second');
  expect(answer.text).toContain('[DONE]');
  expect(answer.text).not.toContain('error');
  const alone = await offer({ isAlone: true });
  first.script(stream(events));
  expect((await ask(alone, { stream: true })).status).toBe(502);
});

test('comments do not keep a stream alive whose pieces have stopped', async () => {
  const model = await offer({ isAlone: true });
  first.script(async (_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(openAiChunk({ content: 'from' }));
    while (!response.destroyed) {
      response.write(': ping\n\n');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  const startedAt = performance.now();
  const { text } = await ask(model, { stream: true });
  expect(text).toContain('stopped in the middle of its answer');
  expect(performance.now() - startedAt).toBeLessThan(timeouts.totalMs);
});

test('when all fail the refusal says what each of them said', async () => {
  const model = await offer();
  first.script(json({ error: { message: 'first is broken' } }, 500));
  second.script(json({ error: { message: 'bad key sk-1234567890abcdef' } }, 401));
  const answer = await ask(model);
  expect(answer.status).toBe(502);
  expect(answer.body.error.type).toBe('provider_error');
  expect(answer.body.error.message).toContain('first is broken');
  expect(answer.body.error.message).toContain(`b${cases}/${model}`);
  expect(answer.text).not.toContain('sk-1234567890abcdef');
  expect(answer.text).not.toContain('bad key');
});

test('a provider that keeps failing is left alone, and asked again when its settings change', async () => {
  const model = await offer();
  first.script(json({ error: { message: 'broken' } }, 500));
  second.script(good);
  for (let times = 0; times < 8; times += 1) expect((await ask(model)).status).toBe(200);
  expect(first.received.length).toBeLessThan(7);
  const health = await gateway.call('GET', '/api/health');
  expect(health.body.providers[`a${cases}`]).toMatchObject({
    status: 'degraded',
    availability: 0,
    error: 'it answered with an error',
  });
  const before = first.received.length;
  await ask(model);
  expect(first.received).toHaveLength(before);
  first.script(json(openAiAnswer('well again')));
  await gateway.put(`a${cases}`, {
    dialect: 'openai',
    baseUrl: `${first.url}/v1`,
    models: [{ name: model }],
    weight: 2,
  });
  expect((await ask(model)).body.choices[0].message.content).toBe('well again');
});

test('further models answer where the request names them', async () => {
  const model = await offer({ isAlone: true });
  first.script(json({ error: { message: 'broken' } }, 500));
  const other = await offer();
  first.script(json({ error: { message: 'broken' } }, 500));
  second.script(good);
  const answer = await ask(model, { fallbacks: [other] });
  expect(answer.body.choices[0].message.content).toBe('from the second');
  expect(second.received[0]?.body).not.toHaveProperty('fallbacks');
});

test('a prompt that is too long goes to a model with more room, if there is one', async () => {
  const tooLong = { error: { message: 'too long', code: 'context_length_exceeded' } };
  const model = await offer({ isAlone: true });
  first.script(json(tooLong, 400));
  const refused = await ask(model);
  expect(refused.status).toBe(400);
  expect(refused.body.error.code).toBe('context_length_exceeded');
  await gateway.put(`b${cases}`, {
    dialect: 'openai',
    baseUrl: `${second.url}/v1`,
    models: [{ name: model, contextWindow: 1_000_000 }],
    priority: 1,
  });
  second.script(good);
  expect((await ask(model)).status).toBe(200);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 9;
}
