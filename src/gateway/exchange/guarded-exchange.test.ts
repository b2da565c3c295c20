import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startProvider(),
    startGateway({ environment: { GATEWAY_ANSWER_CHARS_MAX: '50', GATEWAY_REDACT: 'email' } }),
  ]);
  const models = [{ name: 'm' }];
  await gateway.put('up', { dialect: 'openai', baseUrl: `${upstream.url}/v1`, models });
  const ant = { dialect: 'anthropic', baseUrl: `${upstream.url}/v1`, models: [{ name: 'a' }] };
  await gateway.put('ant', ant);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];

test('a streamed answer that is too long is refused, and its provider is not blamed', async () => {
  for (let times = 0; times < 6; times += 1) {
    upstream.script(stream(openAiStream(words)));
    const body = { model: 'm', messages, stream: true };
    const { text } = await gateway.call('POST', '/v1/chat/completions', body);
    expect(text).toContain('"code":"guardrail_refused"');
    expect(text).toContain('the answer is longer than 50 characters');
    expect(text).not.toContain('[DONE]');
  }
  upstream.script(json(openAiAnswer('short')));
  const next = await gateway.call('POST', '/v1/chat/completions', { model: 'm', messages });
  expect(next.status).toBe(200);
  const health = await gateway.call('GET', '/api/health');
  expect(health.body.providers.up).toMatchObject({ status: 'healthy', availability: 1 });
});

/** The events of a streamed response of the Responses API. */
async function eventsOf() {
  const body = { model: 'm', input: 'hi', stream: true };
  const { text } = await gateway.call('POST', '/v1/responses', body);
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => line ?? '');
  return data.map((one) => JSON.parse(one) as { type: string; sequence_number: number });
}

const words = Array.from({ length: 80 }, () => 'nineteen ');

test.each([
  ['is refused', openAiStream(words)],
  ['is refused in the packet of its end', [openAiStream(words).join('')]],
  ['is broken off', openAiStream(['nineteen ', 'nineteen ']).slice(0, -3)],
])("a response's events are numbered to the last, also where it %s", async (_, texts) => {
  upstream.script(stream(texts));
  const events = await eventsOf();
  expect(events.at(-1)?.type).toBe('error');
  expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
  const pieces = events.filter(({ type }) => type === 'response.output_text.delta');
  expect(pieces.length).toBeGreaterThan(0);
});

/** What the provider heard of a caller of Anthropic's API with headers of its own. */
async function heardOf(model: string, content: string) {
  upstream.received.length = 0;
  await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.user, 'content-type': 'application/json', ...ownHeaders },
    body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content }] }),
  });
  expect(upstream.received).toHaveLength(1);
  return upstream.received[0]?.headers;
}

const ownHeaders = {
  'anthropic-beta': 'context-1m-2025-08-07',
  'anthropic-version': '2024-01-01',
};

test.each(['plain', 'write to bob@example.com'])(
  "Anthropic's own headers go along where the bytes do not: %s",
  async (content) => {
    const error = { type: 'invalid_request_error', message: 'x' };
    upstream.script(json({ type: 'error', error }, 400));
    expect(await heardOf('a', content)).toMatchObject(ownHeaders);
  },
);

test("Anthropic's headers go to nobody else", async () => {
  upstream.script(json(openAiAnswer('short')));
  const heard = await heardOf('m', 'hello');
  for (const name of Object.keys(ownHeaders)) expect(heard).not.toHaveProperty(name);
});
