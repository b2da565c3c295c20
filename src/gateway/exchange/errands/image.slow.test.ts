import { afterAll, beforeAll, expect, test } from 'vitest';
import { json, startGateway, startProvider, type ScriptedProvider } from '../../testing.ts';

let first: ScriptedProvider;
let second: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const made = {
  created: 1,
  data: [{ url: 'https://images.test/1' }],
  usage: { input_tokens: 10, output_tokens: 1_000, total_tokens: 1_010 },
};
const path = '/v1/images/generations';

beforeAll(async () => {
  [first, second] = await Promise.all([startProvider(json(made)), startProvider(json(made))]);
  gateway = await startGateway({
    environment: {
      GATEWAY_HEDGE_AFTER_MS: '30',
      GATEWAY_DENY_WORDS: 'unobtainium',
      GATEWAY_REDACT: 'email',
    },
  });
  const models = [{ name: 'pixels', capabilities: ['image'], outputCostPerMToken: 40 }];
  await gateway.put('one', { dialect: 'openai', baseUrl: `${first.url}/v1`, models });
  const behind = { dialect: 'openai', baseUrl: `${second.url}/v1`, priority: 1, models };
  await gateway.put('two', behind);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const ask = (prompt: string) => gateway.call('POST', path, { model: 'pixels', prompt });

test('guardrails refuse what is forbidden, and keep personal data from providers', async () => {
  const refused = await ask('a lump of unobtainium');
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({ code: 'guardrail_refused', param: 'prompt' });
  expect(first.received).toEqual([]);
  expect((await ask('a card for ada@example.com')).status).toBe(200);
  expect(first.received[0]?.body.prompt).toBe('a card for [EMAIL_1]');
});

test('nobody else is asked while somebody draws, though chats are hedged', async () => {
  first.script(async (received, response) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await json(made)(received, response);
  });
  const answer = await ask('a cat');
  expect(answer.headers.get('x-gateway-provider')).toBe('one');
  expect(second.received).toEqual([]);
});

test('spans say what was asked of whom, and what it took', async () => {
  first.script(json({ error: { message: 'oops' } }, 500));
  gateway.spans.length = 0;
  await ask('a cat');
  const attempts = gateway.spans.filter(({ name }) => name === 'generate_content pixels');
  expect(attempts.map(({ attributes }) => attributes['gen_ai.provider.name'])).toEqual([
    'one',
    'two',
  ]);
  expect(attempts[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.output.type': 'image',
    'gen_ai.request.model': 'pixels',
  });
  const request = gateway.spans.find(({ name }) => name.includes(path));
  expect(request?.attributes).toMatchObject({
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.provider.name': 'two',
    'gen_ai.usage.output_tokens': 1_000,
    'ennead.cost': 0.04,
  });
});
