import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog, startService } from '../../kit/testing.ts';
import { writeRandomModel } from '../random-model/random-gguf.ts';
import { models } from '../service.ts';
import { Backends } from './backends.ts';
import { describeModel, ScriptedInference } from './testing.ts';

type Started = Awaited<ReturnType<typeof startService>>;

/** Everything that answers a question, by its path, with a question that names no model. */
const questions = {
  '/invoke': { tool: 'generate', input: { prompt: 'a', options: { maxTokens: 1 } } },
  '/api/generate': {
    model: 'ennead-tiny',
    prompt: 'a',
    options: { num_predict: 1 },
    stream: false,
  },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'a' }], max_tokens: 1 },
} as const;

async function post({ app, issuer }: Started, url: string, payload: object) {
  const headers = { authorization: `Bearer ${await issuer.sign()}` };
  const reply = await app.inject({ method: 'POST', url, headers, payload });
  return { status: reply.statusCode, headers: reply.headers, body: reply.json<unknown>() };
}

async function writeBrokenModel({ host }: Started): Promise<void> {
  const path = join(host.dataFolder, 'models', 'aaa-broken.gguf');
  await writeRandomModel(path);
  const content = await readFile(path);
  // A tensor that llama.cpp looks for under its right name.
  content.write('inside_norm', content.indexOf('output_norm'), 'latin1');
  await writeFile(path, content);
}

describe('beside a file that only looks like a model', () => {
  let service: Started;
  beforeAll(async () => {
    service = await startService(models, { environment: { MODELS_THREADS: '1' } });
    await writeBrokenModel(service);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('the first caller that names none gets the next model, and so do those after it', async () => {
    for (const _ of [1, 2]) {
      const answer = await post(service, '/invoke', questions['/invoke']);
      expect(answer).toMatchObject({ status: 200, body: { result: { model: 'ennead-tiny' } } });
    }
    const chat = await post(service, '/v1/chat/completions', questions['/v1/chat/completions']);
    expect(chat).toMatchObject({ status: 200, body: { model: 'ennead-tiny' } });
    const listed = await post(service, '/invoke', { tool: 'list_models' });
    expect(listed.body).toMatchObject({
      result: {
        model: 'ennead-tiny',
        output: [{ name: 'ennead-tiny' }, { name: 'aaa-broken' }, { name: 'ennead-embed' }],
      },
    });
  });

  test('who names it is told that it is no usable model', async () => {
    const input = { prompt: 'a', model: 'aaa-broken' };
    expect(await post(service, '/invoke', { tool: 'generate', input })).toMatchObject({
      status: 400,
      body: { error: { code: 'BAD_MODEL_FILE', message: expect.stringContaining('aaa-broken') } },
    });
  });
});

test('a broken model that the operator chose is not replaced, and nobody is blamed for it', async () => {
  const environment = { MODELS_THREADS: '1', MODELS_DEFAULT: 'aaa-broken' };
  await using service = await startService(models, { environment });
  await writeBrokenModel(service);
  expect(await post(service, '/invoke', questions['/invoke'])).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    body: { error: { message: expect.stringContaining('aaa-broken') as string } },
  });
});

test('a model that can never fit the memory is not the default, and by name says so', async () => {
  const environment = { MODELS_THREADS: '1', MODELS_MEMORY_MB: '64' };
  await using service = await startService(models, { environment });
  const shape = { width: 512, layers: 8, heads: 8, hidden: 1024 };
  await writeRandomModel(join(service.host.dataFolder, 'models', 'aaa-large.gguf'), { shape });
  const answer = await post(service, '/invoke', questions['/invoke']);
  expect(answer).toMatchObject({ status: 200, body: { result: { model: 'ennead-tiny' } } });
  const input = { prompt: 'a', model: 'aaa-large' };
  expect(await post(service, '/invoke', { tool: 'generate', input })).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'INSUFFICIENT_MEMORY',
        message: expect.stringMatching(/aaa-large.*of the 64 MiB/) as string,
      },
    },
  });
});

test('a request beyond the time that is set is answered 504 by each API', async () => {
  // Less than a model takes to load.
  const environment = { MODELS_THREADS: '1', MODELS_DEADLINE_SECONDS: '0.001' };
  await using service = await startService(models, { environment });
  const message = 'the request took too long';
  const [tool, ollama, openAi] = await Promise.all(
    Object.entries(questions).map(([url, payload]) => post(service, url, payload)),
  );
  expect(tool).toMatchObject({ status: 504, body: { error: { code: 'DEADLINE', message } } });
  expect(ollama).toMatchObject({ status: 504, body: { error: message } });
  expect(openAi).toMatchObject({ status: 504, body: { error: { type: 'server_error', message } } });
});

test('a request may ask for less time', async () => {
  await using service = await startService(models, { environment: { MODELS_THREADS: '1' } });
  const { tool, input } = questions['/invoke'];
  const options = { ...input.options, deadlineMs: 1 };
  const late = await post(service, '/invoke', { tool, input: { ...input, options } });
  expect(late.status).toBe(504);
});

test('a request that asks for more time than that gets no more', async () => {
  const local = new ScriptedInference([describeModel('scripted')]);
  const backends = new Backends({ local, externals: [], deadlineMs: 5000, log: silentLog });
  const caller = { subject: 'usr_test', signal: new AbortController().signal };
  const model = await backends.find('scripted');
  for (const asked of [{}, { deadlineMs: 4000 }, { deadlineMs: 6000 }]) {
    const events = backends.generate(model, { prompt: { text: 'a' }, ...asked }, caller);
    await events.next();
  }
  expect(local.requests.map(({ deadlineMs }) => deadlineMs)).toEqual([5000, 4000, 5000]);
});

test('the models are listed though the default is missing', async () => {
  await using service = await startService(models, { environment: { MODELS_DEFAULT: 'ghost' } });
  expect(await post(service, '/invoke', { tool: 'list_models' })).toMatchObject({
    status: 200,
    body: {
      result: { model: 'ghost', output: [{ name: 'ennead-tiny' }, { name: 'ennead-embed' }] },
    },
  });
});
