import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  json,
  startGateway,
  startProvider,
  type Script,
  type ScriptedProvider,
} from '../testing.ts';

type Fields = Readonly<Record<string, unknown>>;

let first: ScriptedProvider;
let second: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let cases = 0;

const prices = { inputCostPerMToken: 5, outputCostPerMToken: 40 };
const picture = Buffer.from('a picture').toString('base64');
const usage = {
  input_tokens: 10,
  output_tokens: 1_000,
  total_tokens: 1_010,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
};
const made = { created: 1_700_000_000, data: [{ b64_json: picture }], usage };
const good = json(made);
const failing = json({ error: { message: 'oops', type: 'server_error' } }, 500);

beforeAll(async () => {
  [first, second, gateway] = await Promise.all([startProvider(), startProvider(), startGateway()]);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

beforeEach(() => {
  cases += 1;
  first.received.length = 0;
  second.received.length = 0;
  first.script(good);
  second.script(good);
});

/** A model of the first provider, and of the second one behind it unless that is left out. */
async function offer(model: Fields = {}, { isAlone = false, dialect = 'openai' } = {}) {
  const name = `painter-${cases}`;
  const models = [{ name, capabilities: ['image'], ...prices, ...model }];
  await gateway.put(`a${cases}`, { dialect, baseUrl: `${first.url}/v1`, apiKey: 'k', models });
  if (!isAlone) {
    const behind = { dialect: 'openai', baseUrl: `${second.url}/v1`, priority: 1, models };
    await gateway.put(`b${cases}`, behind);
  }
  return name;
}

const ask = (model: string | undefined, fields: Fields = {}, path = '/v1/images/generations') =>
  gateway.call('POST', path, { ...(model && { model }), prompt: 'a cat', ...fields });

const large: Script = (_received, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"created":1,"data":[{"b64_json":"');
  const chunk = Buffer.alloc(1024 * 1024, 'A');
  for (let times = 0; times < 65; times += 1) response.write(chunk);
  response.end('"}]}');
};

describe('refused', () => {
  test.each<readonly [string, Fields]>([
    ['no prompt', { prompt: '' }],
    ['a prompt that is too long', { prompt: 'x'.repeat(32_001) }],
    ['no image', { n: 0 }],
    ['eleven images', { n: 11 }],
    ['half an image', { n: 1.5 }],
    ['another form', { response_format: 'file' }],
    ['a compression beyond 100', { output_compression: 101 }],
  ])('is %s, before anybody is asked', async (_title, fields) => {
    const model = await offer();
    const answer = await ask(model, fields);
    expect({ status: answer.status, type: answer.body.error.type }).toEqual({
      status: 400,
      type: 'invalid_request_error',
    });
    expect(answer.body.error.param).toBe(Object.keys(fields)[0]);
    expect(first.received).toEqual([]);
  });

  test.each(['stream', 'fallbacks', 'routing_strategy', 'cache'])(
    'is %s, which images have not',
    async (param) => {
      const values: Fields = { stream: true, fallbacks: ['x'], routing_strategy: 'quality' };
      const answer = await ask(await offer(), { [param]: values[param] ?? { enabled: true } });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ param, code: 'unsupported_parameter' });
    },
  );

  test('is a body larger than 1 MiB', async () => {
    const answer = await ask(await offer(), { extra: 'x'.repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
  });

  test('is who shows no token', async () => {
    const answer = await fetch(`${gateway.url}/v1/images/generations`, { method: 'POST' });
    expect(answer.status).toBe(401);
  });

  test('is a model that nobody has', async () => {
    const answer = await ask('nobody-paints');
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({ type: 'model_not_found', param: 'model' });
  });

  test('is a model that is known to make none', async () => {
    const model = await offer({ capabilities: ['chat'] });
    const answer = await ask(model);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ param: 'model', code: 'unsupported_capability' });
    expect(answer.body.error.message).toBe(`a${cases}/${model} makes no images`);
    expect(first.received).toEqual([]);
  });

  test.each(['anthropic', 'ollama'])('is a model of %s', async (dialect) => {
    const model = await offer({}, { isAlone: true, dialect });
    const answer = await ask(model);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toBe(`a${cases}/${model} makes no images`);
    expect(first.received).toEqual([]);
  });

  test('is what Gemini has no word for, by its name', async () => {
    const model = await offer({}, { isAlone: true, dialect: 'gemini' });
    const answer = await ask(model, { quality: 'high' });
    expect(answer.body.error).toMatchObject({ param: 'quality', code: 'unsupported_parameter' });
  });

  test("is what the provider's own policy forbids: it names the prompt", async () => {
    const error = { message: 'Blocked.', type: 'user_error', code: 'moderation_blocked' };
    first.script(json({ error }, 400));
    const answer = await ask(await offer());
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ param: 'prompt', code: 'content_filter' });
    expect(second.received).toEqual([]);
  });
});

describe('the next provider answers when the first one', () => {
  test.each<readonly [string, Script]>([
    ['has an error of its own', failing],
    ['has too many requests', json({ error: { message: 'slow' } }, 429, { 'retry-after': '30' })],
    ['does not accept the key', json({ error: { message: 'bad key' } }, 401)],
    ['closes the connection', (_received, response) => void response.destroy()],
    ['answers something that is not JSON', json('<html>')],
    ['answers half of a JSON text', json(JSON.stringify(made).slice(0, -9))],
    ['answers a list', json([])],
    ['answers an error with status 200', json({ error: { message: 'oops', code: 500 } })],
    ['answers without an image', json({ created: 1, data: [] })],
    ['answers with an image that is none', json({ created: 1, data: [{ revised_prompt: 'x' }] })],
    ['answers with more than 64 MiB', large],
  ])('%s', async (_title, script) => {
    const model = await offer();
    first.script(script);
    const answer = await ask(model);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-provider')).toBe(`b${cases}`);
    expect(answer.headers.get('x-gateway-attempts')).toBe('2');
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
  });
});

describe('a provider alone', () => {
  test('is asked again after the wait that it asked for', async () => {
    const model = await offer({}, { isAlone: true });
    first.script(json({ error: { message: 'slow' } }, 429, { 'retry-after-ms': '50' }), good);
    const answer = await ask(model);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-attempts')).toBe('2');
  });

  test('that limits for long says so', async () => {
    const model = await offer({}, { isAlone: true });
    first.script(json({ error: { message: 'slow' } }, 429, { 'retry-after': '60' }));
    const answer = await ask(model);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(answer.body.error.code).toBe('provider_rate_limited');
  });

  test('whose answers are too large is asked once, and not held to be broken', async () => {
    const model = await offer({}, { isAlone: true });
    first.script(large);
    const answer = await ask(model);
    expect(answer.status).toBe(502);
    expect(answer.body.error.code).toBe('answer_too_large');
    expect(answer.body.error.message).toContain('more than 64 MiB');
    expect(first.received).toHaveLength(1);
    first.script(good);
    expect((await ask(model)).status).toBe(200);
  });
});

describe('made', () => {
  test("as OpenAI's bytes, both ways, for the model's name there", async () => {
    const model = await offer({}, { isAlone: true });
    const odd = `{ "created":1.0 , "x":[1.0],"data":[{"url":"https://images.test/1"}]}`;
    first.script(json(odd));
    const fields = { n: 2, size: '1024x1024', quality: null, style: 'vivid', unheard: { of: 1 } };
    const answer = await ask(`a${cases}/${model}`, fields);
    expect(answer.text).toBe(odd);
    expect(first.received[0]?.path).toBe('/v1/images/generations');
    expect(first.received[0]?.body).toEqual({ model, prompt: 'a cat', ...fields });
  });

  test('by the cheapest that makes any, where nobody is named', async () => {
    const dear = await offer({ outputCostPerMToken: 4_000 }, { isAlone: true });
    cases += 1;
    const cheap = await offer({ outputCostPerMToken: 0.1 }, { isAlone: true });
    expect(dear).not.toBe(cheap);
    for (const model of [undefined, 'auto-route']) {
      const answer = await ask(model);
      expect(answer.headers.get('x-gateway-model')).toBe(cheap);
    }
    await gateway.asAdmin('DELETE', `/api/v1/providers/a${cases}`);
  });

  test('by a model that nobody knows, for who names it', async () => {
    await gateway.put(`a${cases}`, {
      dialect: 'openai',
      baseUrl: `${first.url}/v1`,
      models: [{ name: 'house-brush-7' }],
    });
    expect((await ask('house-brush-7')).status).toBe(200);
  });

  test('with who made them and what they cost, below /api/v1', async () => {
    const model = await offer();
    const answer = await ask(model, {}, '/api/v1/images/generations');
    const cost = (10 * 5 + 1_000 * 40) / 1e6;
    expect(answer.body).toEqual({
      ...made,
      model,
      provider: `a${cases}`,
      usage: { ...usage, cost },
    });
    expect(answer.headers.get('x-gateway-cost')).toBe(String(cost));
    const plain = await ask(model);
    expect(plain.body).toEqual(made);
  });

  test('at the price of an image, where no tokens are counted', async () => {
    const unpriced = { inputCostPerMToken: undefined, outputCostPerMToken: undefined };
    const model = await offer({ ...unpriced, costPerImage: 0.04 });
    first.script(
      json({ created: 1, data: [{ url: 'https://i.test/1' }, { url: 'https://i.test/2' }] }),
    );
    const answer = await ask(model, { n: 2 }, '/api/v1/images/generations');
    expect(answer.body.usage.cost).toBe(0.08);
    const listed = await gateway.asAdmin('GET', `/api/v1/providers/a${cases}`);
    expect(listed.body.models[0].costPerImage).toBe(0.04);
    const { body } = await gateway.call('GET', '/api/v1/providers');
    const [shown] = body.providers.find(
      ({ name }: { name: string }) => name === `a${cases}`,
    ).models;
    expect(shown).toMatchObject({ costPerImage: 0.04, costPerMToken: 0 });
    expect(shown).not.toHaveProperty('isPriceUnknown');
  });

  test.each([
    [{ inputCostPerMToken: undefined, outputCostPerMToken: undefined }, 32],
    [{ inputCostPerMToken: 5, outputCostPerMToken: undefined }, 32],
    [{ inputCostPerMToken: undefined, outputCostPerMToken: 1 }, 1],
  ])("at the catalogue's price of images, unless the operator says %j", async (own, price) => {
    await offer({ ...own, name: 'gpt-image-1.5' }, { isAlone: true });
    const answer = await ask(`a${cases}/gpt-image-1.5`);
    const cost = Number(answer.headers.get('x-gateway-cost'));
    expect(cost).toBeCloseTo((10 * 5 + 1_000 * price) / 1e6, 10);
  });

  test('at no price that nobody knows, as chats are', async () => {
    const unpriced = { inputCostPerMToken: undefined, outputCostPerMToken: undefined };
    const answer = await ask(await offer(unpriced));
    expect(answer.headers.get('x-gateway-cost')).toBe('0');
  });

  test('by Gemini, from its own words', async () => {
    const model = await offer(
      { name: `gemini-3-image-${cases}` },
      { isAlone: true, dialect: 'gemini' },
    );
    const inlineData = { mimeType: 'image/png', data: picture };
    first.script(
      json({
        candidates: [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1_290 },
      }),
    );
    const answer = await ask(`a${cases}/gemini-3-image-${cases}`, { size: '1024x1024' });
    expect(model).toContain('painter');
    expect(answer.body).toMatchObject({
      data: [{ b64_json: picture }],
      output_format: 'png',
      usage: { input_tokens: 7, output_tokens: 1_290, total_tokens: 1_297 },
    });
    expect(first.received[0]?.path).toContain(':generateContent');
    expect(Number(answer.headers.get('x-gateway-cost'))).toBeCloseTo(
      (7 * 5 + 1_290 * 40) / 1e6,
      10,
    );
  });
});

describe('counted', () => {
  const putBudget = (unit: string, amount: number) =>
    gateway.asAdmin('PUT', '/api/v1/budgets/usr_one', {
      limits: [{ unit, amount, period: 'day' }],
    });

  test('nobody is asked for more than the budget has left', async () => {
    const model = await offer();
    await putBudget('dollars', 0.000_001);
    const answer = await ask(model);
    expect(answer.status).toBe(429);
    expect(answer.body.error.code).toBe('budget_exceeded');
    expect(first.received).toEqual([]);
    await gateway.asAdmin('DELETE', '/api/v1/budgets/usr_one');
  });

  test('what was spent stands in budgets, spends and metrics; what failed frees what was held', async () => {
    const model = await offer({}, { isAlone: true });
    await putBudget('tokens', 1_000_000_000);
    const before = await gateway.call('GET', '/api/v1/budgets/me');
    const [held] = before.body.limits;
    first.script(json({ error: { message: 'no' } }, 400));
    await ask(model);
    first.script(good);
    await ask(model);
    const after = await gateway.call('GET', '/api/v1/budgets/me');
    expect(after.body.limits[0]).toMatchObject({ used: held.used + 1_010, reserved: 0 });
    await gateway.asAdmin('DELETE', '/api/v1/budgets/usr_one');
    const spend = await gateway.call('GET', '/api/v1/spend?groupBy=model');
    const own = spend.body.spend.find(({ group }: { group: string }) => group === model);
    expect(own).toMatchObject({ requests: 1, inputTokens: 10, outputTokens: 1_000 });
    expect(own.dollars).toBeCloseTo(0.040_05, 10);
    const { text } = await gateway.call('GET', '/api/v1/metrics');
    expect(text).toContain(
      `gateway_tokens_total{provider="a${cases}",model="${model}",direction="output"} 1000`,
    );
    expect(text).toContain(`gateway_attempts_total{provider="a${cases}",outcome="rejected"} 1`);
  });

  test('who leaves is written down as such', async () => {
    const model = await offer({}, { isAlone: true });
    const leaving = new AbortController();
    first.script(() => leaving.abort());
    const asking = fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.user}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'a cat' }),
      signal: leaving.signal,
    });
    await expect(asking).rejects.toThrow();
    await expect
      .poll(async () => (await gateway.call('GET', '/api/v1/metrics')).text)
      .toContain(`gateway_outcomes_total{provider="a${cases}",outcome="aborted"} 1`);
  });
});
