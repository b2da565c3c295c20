import { afterAll, beforeAll, expect, test } from 'vitest';
import { listenAnywhere, startService } from '../../../kit/testing.ts';
import { models } from '../../service.ts';

type Started = Awaited<ReturnType<typeof startService>>;

let far: Started;
let near: Started;
let url: string;
let token: string;
beforeAll(async () => {
  far = await startService(models);
  const farUrl = await listenAnywhere(far.host.http);
  const farToken = await far.issuer.sign();
  const environment = {
    OLLAMA_URL: farUrl,
    OLLAMA_API_KEY: farToken,
    MODELS_OPENAI_URL: `${farUrl}/v1`,
    MODELS_OPENAI_API_KEY: farToken,
  };
  near = await startService(models, { environment });
  url = await listenAnywhere(near.host.http);
  token = await near.issuer.sign();
});
afterAll(async () => {
  await near[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

function ask(path: string, body?: object): Promise<Response> {
  return fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const messages = [{ role: 'user', content: 'hello' }];

test('a model of another service that is not there is not found', async () => {
  const answer = await ask('/v1/chat/completions', { model: 'ollama/none', messages });
  expect(answer.status).toBe(404);
});

test('the models of another service stand beside the own ones', async () => {
  const answer = await ask('/v1/models');
  const { data } = (await answer.json()) as { data: { id: string }[] };
  const ids = data.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const random = ids.find((id) => !id.includes('/') && id !== 'ennead-embed');
  expect(ids).toContain(`ollama/${random}`);
  expect(ids).toContain(`openai/${random}`);
});

test.each(['ollama', 'openai'])('they answer through %s as they do at home', async (runtime) => {
  const listed = await ask('/v1/models');
  const { data } = (await listed.json()) as { data: { id: string }[] };
  const own = data.map(({ id }) => id).find((id) => !id.includes('/') && id !== 'ennead-embed');
  const wanted = { messages, max_tokens: 8, temperature: 0 };
  const [home, away] = await Promise.all(
    [own, `${runtime}/${own}`].map(async (model) => {
      const answer = await ask('/v1/chat/completions', { ...wanted, model });
      expect(answer.status).toBe(200);
      return (await answer.json()) as {
        choices: { message: { content: string }; finish_reason: string }[];
        usage: { prompt_tokens: number; completion_tokens: number };
      };
    }),
  );
  expect(away?.choices).toEqual(home?.choices);
  expect(away?.usage.prompt_tokens).toBe(home?.usage.prompt_tokens);
  expect(away?.usage.completion_tokens).toBe(home?.usage.completion_tokens);
});

test('vectors made elsewhere are those made here', async () => {
  const embed = async (model: string) => {
    const answer = await ask('/api/embed', { model, input: ['one', 'two'] });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { embeddings: number[][]; normalised: boolean };
  };
  const home = await embed('ennead-embed');
  const away = await embed('ollama/ennead-embed');
  expect(away.normalised).toBe(home.normalised);
  const flat = away.embeddings.flat();
  for (const [at, value] of home.embeddings.flat().entries())
    expect(flat[at]).toBeCloseTo(value, 5);
});
