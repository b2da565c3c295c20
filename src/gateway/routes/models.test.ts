import { Anthropic } from '@anthropic-ai/sdk';
import { OpenAI } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../testing.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
let anthropic: Anthropic;
let openai: OpenAI;

const names = Array.from({ length: 45 }, (_, at) => `model-${at}`);

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: 'http://127.0.0.1:9/v1',
    models: names.map((name) => ({ name, contextWindow: 1_000, maxOutput: 100 })),
  });
  const apiKey = gateway.user;
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
});

afterAll(() => gateway[Symbol.asyncDispose]());

const first = {
  type: 'model',
  id: 'model-0',
  display_name: 'model-0',
  created_at: '1970-01-01T00:00:00.000Z',
  max_input_tokens: 1_000,
  max_tokens: 100,
};

async function namesOf(models: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of models) found.push(id);
  return found;
}

test("Anthropic's client is told in its own words that there is no such model", async () => {
  const asked = anthropic.models.retrieve('nope');
  await expect(asked).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  await expect(asked).rejects.toMatchObject({
    error: {
      type: 'error',
      error: { type: 'not_found_error', message: 'there is no model nope' },
      request_id: expect.any(String) as unknown,
    },
  });
  await expect(anthropic.models.list({ after_id: 'nope' })).rejects.toMatchObject({
    status: 400,
    error: { type: 'error', error: { type: 'invalid_request_error' } },
  });
});

test("Anthropic's client is refused in its own words, whoever words it", async () => {
  const authToken = 'no.token.this';
  const stranger = new Anthropic({ baseURL: gateway.url, apiKey: null, authToken, maxRetries: 0 });
  await expect(stranger.models.list()).rejects.toMatchObject({
    status: 401,
    error: { type: 'error', error: { type: 'authentication_error' } },
  });
  await expect(anthropic.models.list({ limit: -1 })).rejects.toMatchObject({
    status: 400,
    error: { type: 'error', error: { type: 'invalid_request_error' } },
  });
});

test("Anthropic's client reads models, and turns the pages of their list both ways", async () => {
  expect(await anthropic.models.retrieve('model-0')).toMatchObject(first);
  expect(await anthropic.models.retrieve('up/model-0')).toMatchObject({ id: 'up/model-0' });
  const page = await anthropic.models.list();
  expect(page).toMatchObject({ has_more: true, first_id: 'model-0', last_id: 'model-19' });
  expect(page.data[0]).toMatchObject(first);
  expect(await namesOf(anthropic.models.list())).toEqual(names);
  expect(await namesOf(anthropic.models.list({ limit: 1_000 }))).toEqual(names);
  const back = await namesOf(anthropic.models.list({ before_id: 'model-30', limit: 20 }));
  expect(back).toEqual([...names.slice(10, 30), ...names.slice(0, 10)]);
});

test("OpenAI's client gets OpenAI's list, and refusals in OpenAI's words", async () => {
  expect(await namesOf(openai.models.list())).toEqual(names);
  const [model] = (await openai.models.list()).data;
  expect(model).toEqual({ id: 'model-0', object: 'model', created: 0, owned_by: 'up' });
  await expect(openai.models.retrieve('nope')).rejects.toMatchObject({
    status: 404,
    type: 'model_not_found',
    param: 'model',
  });
});
