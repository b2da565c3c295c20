import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
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
} from './testing.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;

const messages = [{ role: 'user', content: 'hi' }];
const prices = { inputCostPerMToken: 2, outputCostPerMToken: 8 };

let upstream: ScriptedProvider;
let other: ScriptedProvider;

beforeAll(async () => {
  [upstream, other] = await Promise.all([startProvider(), startProvider()]);
});

afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const settingsOf = ({ url }: ScriptedProvider, model: string) => ({
  dialect: 'openai',
  baseUrl: `${url}/v1`,
  apiKey: 'sk-secret-of-the-provider',
  models: [{ name: model, ...prices }],
});

describe('a running gateway', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.put('up', settingsOf(upstream, 'm'));
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  const ask = (fields: Readonly<Record<string, unknown>> = {}) =>
    gateway.call('POST', '/v1/chat/completions', { model: 'm', messages, ...fields });

  test('never shows a key of a provider, and says whether it has one', async () => {
    const shown = await gateway.asAdmin('GET', '/api/v1/providers/up');
    expect(shown.body).toMatchObject({ hasApiKey: true, keyCount: 1, origin: 'api' });
    const listed = await gateway.call('GET', '/api/v1/providers');
    expect(shown.text + listed.text).not.toContain('sk-secret');
    const refused = await gateway.call('GET', '/api/v1/providers/up');
    expect(refused.status).toBe(403);
    expect(refused.body.error.type).toBe('authentication_error');
  });

  test('lists what a provider says of its own limit', async () => {
    const headers = { 'x-ratelimit-remaining-requests': '42', 'x-ratelimit-reset-requests': '30s' };
    upstream.script(json(openAiAnswer('limited'), 200, headers));
    await ask();
    const { body } = await gateway.call('GET', '/api/v1/providers');
    const listed = body.providers.find(({ name }: { name: string }) => name === 'up');
    expect(listed.rateLimit.remaining).toBe(42);
    expect(Date.parse(listed.rateLimit.reset)).toBeGreaterThan(Date.now());
    expect(listed).toMatchObject({ status: 'healthy', models: [{ name: 'm' }] });
  });

  test('drops no request while its providers change', async () => {
    upstream.script(json(openAiAnswer('one')));
    other.script(json(openAiAnswer('two')));
    const asked = { isDone: false };
    const asking = Array.from({ length: 8 }, async () => {
      const statuses: number[] = [];
      while (!asked.isDone) statuses.push((await ask()).status);
      return statuses;
    });
    for (let times = 0; times < 12; times += 1) {
      await gateway.put('up', settingsOf(times % 2 === 0 ? other : upstream, 'm'));
    }
    asked.isDone = true;
    const statuses = (await Promise.all(asking)).flat();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(other.received.length).toBeGreaterThan(0);
  });

  test('gives up at the provider when its caller does, and counts what came', async () => {
    let isClosed = false;
    upstream.script((_received, response) => {
      response.on('close', () => (isClosed = true));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(openAiChunk({ content: 'twelve letters here '.repeat(10) }));
    });
    const leaving = new AbortController();
    const token = await gateway.issuer.sign({ sub: 'usr_leaver' });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages, stream: true }),
      signal: leaving.signal,
    });
    await answer.body?.getReader().read();
    leaving.abort();
    await vi.waitFor(() => expect(isClosed).toBe(true));
    await vi.waitFor(async () => {
      const spend = await gateway.asAdmin('GET', '/api/v1/spend?subject=usr_leaver');
      expect(spend.body.totals.requests).toBe(1);
      expect(spend.body.totals.outputTokens).toBeGreaterThan(20);
      expect(spend.body.totals.dollars).toBeGreaterThan(0);
    });
  });

  test('counts requests, seconds and dollars as the interface names them', async () => {
    upstream.script(json(openAiAnswer('counted')));
    await ask();
    const { text, headers } = await gateway.call('GET', '/api/v1/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    expect(text).toMatch(/# HELP gateway_requests_total .+\n# TYPE gateway_requests_total counter/);
    expect(text).toMatch(/gateway_requests_total\{provider="up",model="m"\} [1-9]/);
    expect(text).toMatch(
      /gateway_latency_seconds_bucket\{(le="0\.5",provider="up"|provider="up",le="0\.5")\} [1-9]/,
    );
    expect(text).toMatch(/gateway_cost_dollars\{provider="up"\} 0\.\d+/);
    expect(text).toMatch(/gateway_cache_requests_total\{result="off"\} [1-9]/);
  });

  test("refuses in Anthropic's words where its clients ask", async () => {
    const anonymous = await fetch(`${gateway.url}/v1/messages`, { method: 'POST' });
    expect(anonymous.status).toBe(401);
    expect(await anonymous.json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error' },
    });
    const unknown = await gateway.call('POST', '/v1/messages', {
      model: 'x',
      max_tokens: 1,
      messages,
    });
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    const bad = await gateway.call('POST', '/v1/messages', { model: 'm', max_tokens: 1 });
    expect(bad.status).toBe(400);
    expect(bad.body.error.type).toBe('invalid_request_error');
  });

  test.each([
    ['no messages', { model: 'm' }, 'messages'],
    ['messages that are none', { model: 'm', messages: 'hi' }, 'messages'],
    [
      'a role that nobody knows',
      { model: 'm', messages: [{ role: 'x', content: '' }] },
      'messages[0].role',
    ],
    ['a temperature in words', { model: 'm', messages, temperature: 'hot' }, 'temperature'],
    [
      'a strategy that there is not',
      { model: 'm', messages, routing_strategy: 'best' },
      'routing_strategy',
    ],
    ['a ttl below nothing', { model: 'm', messages, cache: { ttl: -1 } }, 'cache.ttl'],
    ['a model that nobody offers', { model: 'nobody', messages }, 'model'],
  ])('refuses %s and names it', async (_title, body, param) => {
    const answer = await gateway.call('POST', '/api/v1/chat/completions', body);
    expect(answer.status).toBe(param === 'model' ? 404 : 400);
    expect(answer.body.error.param).toBe(param);
    expect(answer.body.error.type).toBe(
      param === 'model' ? 'model_not_found' : 'invalid_request_error',
    );
  });
});

describe('the cache of a running gateway', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.put('up', settingsOf(upstream, 'm'));
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  const ask = (fields: Readonly<Record<string, unknown>>, path = '/api/v1/chat/completions') =>
    gateway.call('POST', path, { model: 'm', temperature: 0, ...fields });

  const question = (content: string) => ({ messages: [{ role: 'user', content }] });

  test('answers the same again, at once or as a stream, and says so', async () => {
    upstream.script(json(openAiAnswer('kept for later')));
    const before = upstream.received.length;
    const made = await ask(question('one'));
    expect(made.headers.get('x-cache')).toBe('MISS');
    const again = await ask(question('one'));
    expect(again.headers.get('x-cache')).toBe('HIT');
    expect(Number(again.headers.get('x-cache-age'))).toBeGreaterThanOrEqual(0);
    expect(again.headers.get('x-cache-key')).toBe(made.headers.get('x-cache-key'));
    expect(again.text).toBe(made.text);
    const streamed = await ask({ ...question('one'), stream: true });
    expect(streamed.headers.get('x-cache')).toBe('HIT');
    expect(streamed.text).toContain('kept for later');
    expect(streamed.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(upstream.received).toHaveLength(before + 1);
    const key = made.headers.get('x-cache-key');
    expect((await gateway.call('DELETE', `/api/v1/cache/${key}`)).status).toBe(200);
    expect((await ask(question('one'))).headers.get('x-cache')).toBe('MISS');
  });

  test('keeps what was streamed, when it is whole', async () => {
    upstream.script(stream(openAiStream(['streamed ', 'once'])));
    await ask({ ...question('two'), stream: true });
    const again = await ask(question('two'));
    expect(again.headers.get('x-cache')).toBe('HIT');
    expect(again.body.choices[0].message.content).toBe('streamed once');
    upstream.script(
      json(
        openAiAnswer('cut', {
          choices: [
            { index: 0, message: { role: 'assistant', content: 'cut' }, finish_reason: 'length' },
          ],
        }),
      ),
    );
    await ask(question('three'));
    expect((await ask(question('three'))).headers.get('x-cache')).toBe('MISS');
  });

  test('asks once for all who ask the same at the same time, and nobody sees the others', async () => {
    const slow: Script = async (received, response) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      await json(openAiAnswer('for all'))(received, response);
    };
    upstream.script(slow);
    const before = upstream.received.length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(question('four'))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(upstream.received).toHaveLength(before + 1);
    const stranger = await gateway.asAdmin('POST', '/api/v1/chat/completions', {
      model: 'm',
      temperature: 0,
      ...question('four'),
    });
    expect(stranger.headers.get('x-cache')).toBe('MISS');
  });
});

test('a budget refuses what would exceed it, and says until when', async () => {
  await using gateway = await startGateway();
  await gateway.put('up', settingsOf(upstream, 'm'));
  upstream.script(json(openAiAnswer('spent')));
  const limits = [{ unit: 'requests', amount: 3, period: 'day' }];
  const put = await gateway.asAdmin('PUT', '/api/v1/budgets/usr_one', { limits });
  expect(put.status).toBeLessThan(300);
  const ask = () => gateway.call('POST', '/v1/chat/completions', { model: 'm', messages });
  const answers = await Promise.all(Array.from({ length: 10 }, ask));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.error).toMatchObject({
    type: 'rate_limit_exceeded',
    code: 'budget_exceeded',
  });
  expect(refused?.body.error.retry_after).toBeGreaterThan(0);
  const spend = await gateway.call('GET', '/api/v1/spend');
  expect(spend.body.totals).toMatchObject({ requests: 3, inputTokens: 30, outputTokens: 15 });
  expect(spend.body.totals.dollars).toBe(0.00018);
});

test('with hedging whoever is first answers, and the other is let go', async () => {
  await using gateway = await startGateway({ environment: { GATEWAY_HEDGE_AFTER_MS: '30' } });
  let isLetGo = false;
  upstream.script((_received, response) => void response.on('close', () => (isLetGo = true)));
  other.script(json(openAiAnswer('from the quicker one')));
  await gateway.put('slow', settingsOf(upstream, 'm'));
  await gateway.put('quick', { ...settingsOf(other, 'm'), priority: 1 });
  const answer = await gateway.call('POST', '/v1/chat/completions', { model: 'm', messages });
  expect(answer.body.choices[0].message.content).toBe('from the quicker one');
  await vi.waitFor(() => expect(isLetGo).toBe(true));
});

test('guardrails refuse what is forbidden, and keep personal data from providers', async () => {
  const environment = { GATEWAY_DENY_WORDS: 'unobtainium', GATEWAY_REDACT: 'email' };
  await using gateway = await startGateway({ environment });
  await gateway.put('up', settingsOf(upstream, 'm'));
  const ask = (content: string, fields = {}) =>
    gateway.call('POST', '/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content }],
      ...fields,
    });
  const before = upstream.received.length;
  const refused = await ask('where is the unobtainium?');
  expect(refused.status).toBe(400);
  expect(refused.body.error.code).toBe('guardrail_refused');
  expect(upstream.received).toHaveLength(before);
  upstream.script(json(openAiAnswer('I wrote to [EMAIL_1].')));
  const answer = await ask('write to ada@example.com');
  expect(JSON.stringify(upstream.received.at(-1)?.body)).not.toContain('ada@example.com');
  expect(answer.body.choices[0].message.content).toBe('I wrote to ada@example.com.');
  upstream.script(stream(openAiStream(['I wrote to [EM', 'AIL_', '1].'])));
  const streamed = await ask('write to ada@example.com', { stream: true });
  const text = [...streamed.text.matchAll(/"content":"([^"]*)"/g)]
    .map(([, piece]) => piece)
    .join('');
  expect(text).toBe('I wrote to ada@example.com.');
});
