import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

const models = [{ name: 'm', inputCostPerMToken: 1000, outputCostPerMToken: 1000 }];

beforeAll(async () => {
  [first, second] = await Promise.all([startProvider(), startProvider()]);
  gateway = await startGateway();
  const timeouts = { firstTokenMs: 200, idleMs: 200, totalMs: 400 };
  const dialect = 'openai';
  await gateway.put('slow', { dialect, baseUrl: `${first.url}/v1`, models, timeouts });
  await gateway.put('calm', { dialect, baseUrl: `${first.url}/v1`, models, priority: 1 });
  await gateway.put('claude', { dialect: 'anthropic', baseUrl: `${first.url}/v1`, models });
  await gateway.put('spare', { dialect, baseUrl: `${second.url}/v1`, models });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

let callers = 0;

/** A caller of their own with a budget, and what it says. */
async function newcomer() {
  const subject = `usr_lost_${(callers += 1)}`;
  const limits = ['requests', 'tokens', 'dollars'].map((unit) => ({
    unit,
    amount: 1_000_000,
    period: 'day',
  }));
  await gateway.asAdmin('PUT', `/api/v1/budgets/${subject}`, { limits });
  const token = await gateway.issuer.sign({ sub: subject });
  return {
    ask: (path: string, body: object, signal?: AbortSignal) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    budget: async () => {
      const { body } = await gateway.asAdmin('GET', `/api/v1/budgets/${subject}`);
      const left: { unit: string; used: number; reserved: number }[] = body.limits;
      const used = Object.fromEntries(left.map((limit) => [limit.unit, limit.used]));
      const reserved = left.reduce((sum, limit) => sum + limit.reserved, 0);
      return { ...(used as Record<'requests' | 'tokens' | 'dollars', number>), reserved };
    },
    spend: async () => {
      const query = `groupBy=provider&subject=${subject}`;
      const { body } = await gateway.asAdmin('GET', `/api/v1/spend?${query}`);
      return body.spend as { group: string; requests: number; inputTokens: number }[];
    },
  };
}

const words = 'hello there my dear friend '.repeat(20);
const messages = [{ role: 'user', content: words }];
const chat = { messages, max_tokens: 9 };

/** Says the head of a stream, and nothing of the answer. */
const begins =
  (...texts: readonly string[]): Script =>
  (_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    for (const text of texts) response.write(text);
  };

const role = openAiChunk({ role: 'assistant', content: '' });

/** Leaves once the provider has done its part. */
async function askAndLeave(
  caller: Awaited<ReturnType<typeof newcomer>>,
  { path, body, script }: { path: string; body: object; script: Script },
): Promise<void> {
  const leaving = new AbortController();
  first.script(async (received, response: ServerResponse) => {
    await script(received, response);
    setImmediate(() => leaving.abort());
  });
  await expect(caller.ask(path, body, leaving.signal)).rejects.toThrow();
}

test.each([
  ['/v1/chat/completions', { ...chat, stream: true }, begins()],
  ['/v1/chat/completions', { ...chat, stream: true }, begins(role)],
  ['/v1/chat/completions', { ...chat, stream: true }, () => {}],
  ['/v1/chat/completions', chat, () => {}],
  ['/v1/messages', { ...chat, stream: true }, begins(role)],
  ['/v1/responses', { input: words, stream: true }, begins(role)],
  ['/v1/embeddings', { input: words }, () => {}],
] as const)(
  'a caller of %s who leaves before the answer pays for the prompt: %#',
  async (path, body, script) => {
    const caller = await newcomer();
    await askAndLeave(caller, { path, body: { ...body, model: 'calm/m' }, script });
    await expect.poll(async () => (await caller.budget()).requests).toBe(1);
    const { tokens, dollars, reserved } = await caller.budget();
    expect(tokens).toBeGreaterThan(100);
    expect(dollars).toBeCloseTo(tokens / 1000, 9);
    expect(reserved).toBe(0);
  },
);

test("what the provider has counted before its caller left is the provider's count", async () => {
  const caller = await newcomer();
  const usage = { input_tokens: 5_000, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const start = { type: 'message_start', message };
  const script = begins(`event: message_start\ndata: ${JSON.stringify(start)}\n\n`);
  const body = { ...chat, model: 'claude/m', stream: true };
  await askAndLeave(caller, { path: '/v1/messages', body, script });
  await expect
    .poll(() => caller.budget())
    .toEqual({ requests: 1, tokens: 5_001, dollars: 5.001, reserved: 0 });
});

const breaksOff: Script = (_received, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
  response.write('{"id":"x","choices":[{"message":{"content":"lots of text', () =>
    response.destroy(),
  );
};

test.each([
  ['breaks its answer off', false, breaksOff],
  ['does not answer in time', false, () => {}],
  ['sends no token in time', true, begins(role)],
  ['cuts its stream before the first token', true, stream([role], 'cut')],
] as const)(
  'who %s is paid for the prompt, beside whoever answers',
  async (_title, isStream, script) => {
    const caller = await newcomer();
    first.script(script);
    second.script(isStream ? stream(openAiStream(['hi'])) : json(openAiAnswer('hi')));
    const body = { ...chat, model: 'slow/m', fallbacks: ['spare/m'], stream: isStream };
    const before = await metricOf('gateway_cost_dollars{provider="slow"}');
    await (await caller.ask('/v1/chat/completions', body)).text();
    await expect.poll(async () => (await caller.spend()).length).toBe(2);
    const spend = await caller.spend();
    const of = (name: string) => spend.find(({ group }) => group === name);
    expect(of('slow')).toMatchObject({ requests: 0, inputTokens: expect.any(Number) });
    expect(of('slow')?.inputTokens).toBeGreaterThan(100);
    expect(of('spare')).toMatchObject({ requests: 1, inputTokens: 10 });
    const counted = (await metricOf('gateway_cost_dollars{provider="slow"}')) - before;
    expect(counted).toBeCloseTo((of('slow')?.inputTokens ?? 0) / 1000, 6);
  },
);

async function metricOf(name: string): Promise<number> {
  const { text } = await gateway.asAdmin('GET', '/api/v1/metrics');
  const line = text.split('\n').find((one) => one.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

const losesConnection: Script = (_received, response) => {
  response.destroy();
};

test.each([
  ['its own error', json({ error: { message: 'no' } }, 500)],
  ['a limit', json({ error: { message: 'no' } }, 429)],
  ['a lost connection', losesConnection],
])('who answers with %s takes nothing', async (_title, script) => {
  const caller = await newcomer();
  first.script(script);
  second.script(json(openAiAnswer('hi')));
  const body = { ...chat, model: 'slow/m', fallbacks: ['spare/m'] };
  await (await caller.ask('/v1/chat/completions', body)).text();
  await expect.poll(() => caller.spend()).toMatchObject([{ group: 'spare', requests: 1 }]);
});
