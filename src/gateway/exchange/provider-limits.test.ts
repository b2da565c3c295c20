import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  startGateway,
  startProvider,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const put = (name: string, model: string, dialect = 'openai') =>
  gateway.put(name, {
    dialect,
    baseUrl: `${upstream.url}/v1`,
    models: [{ name: model, capabilities: ['chat', 'tools'] }],
  });

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startProvider(), startGateway()]);
  await put('mistral', 'm');
  await put('openrouter', 'mistralai/mistral-small');
  await put('openai', 'gpt');
  await put('claude', 'c', 'anthropic');
  await put('mine', 'own');
});

beforeEach(() => {
  upstream.received.length = 0;
  upstream.script(json(openAiAnswer('ok', { x_own: 1 })));
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const ids = ['call_1', 'toolu_01ABCDEF', 'functions.t:0', 'abcDEF123', 'call-1789'];

const callOf = (id: string) => ({ id, type: 'function', function: { name: 't', arguments: '{}' } });

/** A conversation with a call of each id, and its result. */
const chat = (model: string, callIds: readonly string[]) => ({
  model,
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: null, tool_calls: callIds.map(callOf) },
    ...callIds.map((id) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` })),
  ],
  x_new: { a: 1 },
});

const messages = (model: string, callIds: readonly string[]) => ({
  model,
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      content: callIds.map((id) => ({ type: 'tool_use', id, name: 't', input: {} })),
    },
    {
      role: 'user',
      content: callIds.map((id) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: `of ${id}`,
      })),
    },
  ],
});

interface Sent {
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
  readonly content: unknown;
}

/** The ids that the provider was sent, of calls and of results, and whether each result is its call's. */
function sentIds() {
  const sent = upstream.received.at(-1)?.body.messages as readonly Sent[];
  const calls = sent.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
  const results = sent.filter((one) => one.tool_call_id !== undefined);
  return { calls, results: results.map((one) => [one.tool_call_id, one.content]) };
}

test.each([
  ['/v1/chat/completions', chat('mistral/m', ids)],
  ['/v1/messages', messages('mistral/m', ids)],
  ['/v1/chat/completions', chat('openrouter/mistralai/mistral-small', ids)],
])('%s has ids of calls that Mistral takes, each call with its own result', async (path, body) => {
  const answer = await gateway.call('POST', path, body);
  expect(answer.status, answer.text).toBe(200);
  const { calls, results } = sentIds();
  for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(new Set(calls).size).toBe(ids.length);
  expect(calls[ids.indexOf('abcDEF123')]).toBe('abcDEF123');
  expect(results).toEqual(ids.map((id, at) => [calls[at], `of ${id}`]));
  await gateway.call('POST', path, body);
  expect(sentIds().calls).toEqual(calls);
});

test('the rest of a chat, and its answer, stay as they came where ids had to change', async () => {
  const answer = await gateway.call('POST', '/v1/chat/completions', chat('mistral/m', ids));
  expect(answer.body).toMatchObject({ x_own: 1 });
  expect(upstream.received.at(-1)?.body).toMatchObject({ x_new: { a: 1 }, model: 'm' });
});

test('ids that fit, or go to others, are not touched', async () => {
  const fitting = JSON.stringify(chat('m', ['abcDEF123', '123456789'])).replaceAll(',"', ', "');
  await gateway.call('POST', '/v1/chat/completions', fitting);
  expect(upstream.received.at(-1)?.text).toBe(fitting);
  await gateway.call('POST', '/v1/chat/completions', chat('mine/own', ids));
  expect(sentIds().calls).toEqual(ids);
});

const five = ['a', 'b', 'c', 'd', 'e'];
const asking = [{ role: 'user', content: 'a' }];

test.each([
  ['/v1/messages', { max_tokens: 9, messages: asking, stop_sequences: five }, 'stop_sequences'],
  ['/v1/chat/completions', { messages: asking, stop: five }, 'stop'],
])(
  '%s with more stop sequences than a provider takes names the field',
  async (path, body, field) => {
    const answer = await gateway.call('POST', path, { model: 'openai/gpt', ...body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`${field} cannot be said to the provider openai`);
    expect(upstream.received).toHaveLength(0);
  },
);

test.each(['/v1/chat/completions', '/v1/messages'])(
  '%s with many stop sequences goes to who takes them',
  async (path) => {
    const stops = path === '/v1/messages' ? { stop_sequences: five } : { stop: five };
    const body = { max_tokens: 9, messages: asking, fallbacks: ['mine/own'], ...stops };
    const answer = await gateway.call('POST', path, { model: 'openai/gpt', ...body });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('x-gateway-provider')).toBe('mine');
    expect(upstream.received.at(-1)?.body.stop).toEqual(five);
    const four = { ...body, stop_sequences: undefined, stop: undefined };
    const fewer = path === '/v1/messages' ? { stop_sequences: ['a'] } : { stop: ['a'] };
    const other = await gateway.call('POST', path, { model: 'openai/gpt', ...four, ...fewer });
    expect(other.headers.get('x-gateway-provider')).toBe('openai');
  },
);

test("an operator's own limits hold, beside what is known of the provider", async () => {
  const settings = {
    dialect: 'openai',
    baseUrl: `${upstream.url}/v1`,
    models: [{ name: 'm', capabilities: ['chat', 'tools'] }],
    limits: { stopsMax: 1 },
  };
  const answer = await gateway.put('mistral', settings);
  expect(answer.body.limits).toEqual({ stopsMax: 1, embeddingInputsMax: 512, callIdLength: 9 });
  const body = { model: 'mistral/m', messages: asking };
  const ask = (stop: string[]) => gateway.call('POST', '/v1/chat/completions', { ...body, stop });
  expect((await ask(['a'])).status).toBe(200);
  expect((await ask(['a', 'b'])).status).toBe(400);
  await expect(gateway.put('mistral', { ...settings, limits: { stops: 1 } })).rejects.toThrow(
    'limits.stops is not a known setting',
  );
});
