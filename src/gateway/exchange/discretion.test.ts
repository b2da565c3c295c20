import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiChunk,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let cases = 0;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startProvider(), startGateway()]);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const key = 'secret-of-acme';
const header = 'hdrSECRET456';
const prompt = 'my salary is 4711';
const messages = [{ role: 'user', content: prompt }];
const said = `tenant for ${key} and team ${header} is down; request was: ${prompt}`;
const wrong = { error: { message: said, code: `c${header}`, param: key, type: 'server_error' } };

/** A provider that nobody asked before, and its name, which is its model's too. */
async function offer(dialect = 'openai'): Promise<string> {
  cases += 1;
  const name = `p${cases}`;
  await gateway.put(name, {
    dialect,
    baseUrl: `${upstream.url}/v1`,
    apiKey: key,
    headers: { 'x-team': header },
    models: [{ name, capabilities: ['chat', 'embedding'] }],
  });
  return name;
}

test.each(
  [400, 401, 404].flatMap((status) =>
    ['openai', 'anthropic', 'gemini', 'ollama'].map((dialect) => [dialect, status] as const),
  ),
)('%s, status %i: neither key nor header value is shown to a caller', async (dialect, status) => {
  const model = await offer(dialect);
  const body = dialect === 'ollama' ? { error: said } : wrong;
  upstream.script(json(body, status));
  const answer = await gateway.call('POST', '/v1/chat/completions', { model, messages });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.text).not.toMatch(/secret/i);
});

test.each([
  [
    'an error inside of a stream',
    [openAiChunk({ content: 'x' }), `data: ${JSON.stringify(wrong)}\n\n`],
  ],
  ['a stream that begins with one', [`data: ${JSON.stringify(wrong)}\n\n`]],
])('%s shows neither key nor header value', async (_, events) => {
  const model = await offer();
  upstream.script(stream(events));
  const body = { model, messages, stream: true };
  const answer = await gateway.call('POST', '/v1/chat/completions', body);
  expect(answer.text).toContain('[hidden]');
  expect(answer.text).not.toMatch(/secret/i);
});

test('what is no chat shows neither key nor header value', async () => {
  const model = await offer();
  upstream.script(json(wrong, 400));
  const answer = await gateway.call('POST', '/v1/embeddings', { model, input: prompt });
  expect(answer.text).toContain('[hidden]');
  expect(answer.text).not.toMatch(/secret/i);
});

test.each([
  [401, "it refuses the gateway's key, or wants to be paid"],
  [500, 'it answered with an error'],
])(
  'status %i: the public health says of what kind it is, in no words of the provider',
  async (status, error) => {
    const model = await offer();
    upstream.script(json(wrong, status));
    await gateway.call('POST', '/v1/chat/completions', { model, messages });
    for (const path of ['/health', '/api/health']) {
      const answer = await fetch(gateway.url + path);
      const text = await answer.text();
      expect(text).not.toMatch(/secret|4711|tenant/i);
      expect(JSON.parse(text)).toMatchObject({
        providers: { [model]: { status: 'degraded', availability: 0, error } },
      });
    }
  },
);

test('the list of providers and the health give one verdict', async () => {
  const model = await offer();
  upstream.script(json(openAiAnswer('well')));
  await gateway.call('POST', '/v1/chat/completions', { model, messages });
  upstream.script(json(wrong, 500));
  await gateway.call('POST', '/v1/chat/completions', { model, messages });
  const health = await gateway.call('GET', '/api/health');
  const { body } = await gateway.call('GET', '/api/v1/providers');
  const listed = Object.fromEntries(
    body.providers.map(({ name, status }: { name: string; status: string }) => [name, status]),
  );
  expect(listed[model]).toBe('degraded');
  for (const [name, status] of Object.entries(listed)) {
    expect([name, status]).toEqual([name, health.body.providers[name].status]);
  }
});
