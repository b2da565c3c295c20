import { OpenAI } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  json,
  startGateway,
  startProvider,
  type Script,
  type ScriptedProvider,
} from '../testing.ts';

let google: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const batchMax = 100;
const model = 'google/gemini-embedding-001';

interface Batch {
  readonly requests: readonly {
    readonly content: { readonly parts: readonly [{ text: string }] };
  }[];
}

const numbersIn = ({ requests }: Batch) =>
  requests.map(({ content }) => Number(content.parts[0].text));

/** Google's answer: the vector of a number is that number; more than 100 are refused. */
const embed: Script = (received, response) => {
  const numbers = numbersIn(received.body as Batch);
  if (numbers.length > batchMax) {
    const message = 'BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch';
    const error = { code: 400, message, status: 'INVALID_ARGUMENT' };
    return json({ error }, 400)(received, response);
  }
  const embeddings = numbers.map((number) => ({ values: [number] }));
  const usageMetadata = { promptTokenCount: numbers.length };
  return json({ embeddings, usageMetadata })(received, response);
};

beforeAll(async () => {
  [google, gateway] = await Promise.all([startProvider(), startGateway()]);
  await gateway.put('google', {
    dialect: 'gemini',
    baseUrl: `${google.url}/v1beta`,
    models: [
      { name: 'gemini-embedding-001', capabilities: ['embedding'], inputCostPerMToken: 1e6 },
    ],
  });
});

beforeEach(() => {
  google.received.length = 0;
  google.script(embed);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await google[Symbol.asyncDispose]();
});

const texts = (count: number) => Array.from({ length: count }, (_, at) => String(at));

/** What was spent by a subject, as the API tells it. */
const spendBy = async (subject: string) =>
  (await gateway.asAdmin('GET', `/api/v1/spend?groupBy=model&subject=${subject}`)).body.totals;

async function clientOf(subject: string) {
  const apiKey = await gateway.issuer.sign({ sub: subject });
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

test('when one batch is refused all is, and what the others took is paid', async () => {
  google.script(embed, embed, json({ error: { code: 400, message: 'no such text' } }, 400));
  const client = await clientOf('usr_refused');
  const asked = client.embeddings.create({ model, input: texts(300) });
  await expect(asked).rejects.toMatchObject({ status: 400, message: /no such text/ });
  const lost = google.received.flatMap(({ body }) => numbersIn(body as Batch)).length - batchMax;
  await expect.poll(async () => (await spendBy('usr_refused')).inputTokens).toBe(lost);
});

test('the next provider gets all texts when one batch fails', async () => {
  await using other = await startProvider(embed);
  for (const [name, { url }] of [
    ['first', google],
    ['second', other],
  ] as const) {
    await gateway.put(name, {
      dialect: 'gemini',
      baseUrl: `${url}/v1beta`,
      priority: name === 'first' ? 0 : 1,
      models: [{ name: 'shared', capabilities: ['embedding'] }],
    });
  }
  google.script(embed, json({ error: { code: 500, message: 'oops' } }, 500));
  const client = await clientOf('usr_next');
  const { data } = await client.embeddings.create({ model: 'shared', input: texts(150) });
  expect(data.map(({ embedding }) => embedding[0])).toEqual(texts(150).map(Number));
  expect(other.received).toHaveLength(2);
});

test('who leaves ends every batch that is on its way, and none is begun after that', async () => {
  const leaving = new AbortController();
  const closed: Promise<void>[] = [];
  let came = 0;
  google.script((_received, response) => {
    came += 1;
    closed.push(new Promise((resolve) => response.once('close', resolve)));
    if (came === 4) leaving.abort();
  });
  const client = await clientOf('usr_left');
  const asked = client.embeddings.create(
    { model, input: texts(2_000) },
    { signal: leaving.signal },
  );
  await expect(asked).rejects.toThrow();
  await Promise.all(closed);
  await expect.poll(async () => (await spendBy('usr_left')).requests).toBe(1);
  expect(came).toBe(4);
});

test.each([100, 101, 250, 2_048])(
  '%i texts come back in order, at what all took',
  async (count) => {
    const client = await clientOf(`usr_${count}`);
    const { data, usage } = await client.embeddings.create({ model, input: texts(count) });
    expect(data.map(({ embedding }) => embedding[0])).toEqual(texts(count).map(Number));
    expect(data.map(({ index }) => index)).toEqual(texts(count).map(Number));
    expect(usage).toEqual({ prompt_tokens: count, total_tokens: count });
    expect(google.received).toHaveLength(Math.ceil(count / batchMax));
    expect(await spendBy(`usr_${count}`)).toMatchObject({ requests: 1, dollars: count });
  },
);

test.each([
  ['cohere', 96],
  ['mistral', 512],
])('texts for %s go in calls of %i', async (name, most) => {
  await using provider = await startProvider((received, response) => {
    const { input } = received.body as { input: string[] };
    const tooMany = { message: `at most ${most} texts`, type: 'invalid_request_error' };
    if (input.length > most) return json({ error: tooMany }, 400)(received, response);
    // In an order of its own, as the index allows.
    const data = input.map((text, index) => ({ index, embedding: [Number(text)] })).toReversed();
    const usage = { prompt_tokens: input.length, total_tokens: input.length };
    return json({ object: 'list', data, model: 'up', usage })(received, response);
  });
  await gateway.put(name, {
    dialect: 'openai',
    baseUrl: `${provider.url}/v1`,
    models: [{ name: 'embed', capabilities: ['embedding'] }],
  });
  const client = await clientOf(`usr_${name}`);
  const { data, usage } = await client.embeddings.create({
    model: `${name}/embed`,
    input: texts(1_030),
  });
  expect(data.map(({ embedding }) => embedding[0])).toEqual(texts(1_030).map(Number));
  expect(data.map(({ index }) => index)).toEqual(texts(1_030).map(Number));
  expect(usage).toEqual({ prompt_tokens: 1_030, total_tokens: 1_030 });
  expect(provider.received).toHaveLength(Math.ceil(1_030 / most));
});
