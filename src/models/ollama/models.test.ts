import { Ollama } from 'ollama';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { describeModel, ScriptedInference } from '../inference/testing.ts';
import { writeRandomModel } from '../random-model/random-gguf.ts';
import { collect, startDialects } from '../dialects-testing.ts';

const inference = new ScriptedInference([
  describeModel('mine', { runtime: 'local' }),
  describeModel('far', { runtime: 'ollama', digest: undefined, parameterCount: undefined }),
  describeModel('ennead-embed', {
    capabilities: ['embedding'],
    embeddingDimensions: 4,
    family: '',
    parameterCount: 1_240_000_000,
  }),
]);

let service: Awaited<ReturnType<typeof startDialects>>;
/** May infer, list and show. */
let client: Ollama;
/** May pull and delete too. */
let manager: Ollama;

beforeAll(async () => {
  service = await startDialects(inference);
  await writeRandomModel(join(service.library.folder, 'mine.gguf'));
  client = clientOf(service.token);
  manager = clientOf(service.managerToken);
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(() => {
  inference.memory.length = 0;
});

function clientOf(token: string): Ollama {
  return new Ollama({ host: service.url, headers: { Authorization: `Bearer ${token}` } });
}

async function send(method: string, path: string, body: object) {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${service.managerToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

const details = {
  parent_model: '',
  format: 'gguf',
  family: 'llama',
  families: ['llama'],
  parameter_size: '1.5M',
  quantization_level: 'Q8_0',
};
const digest = 'ab'.repeat(32);

describe('who may not', () => {
  const request = { model: 'mine' };
  const refusal = { status_code: 403, error: expect.stringContaining('models:manage') as string };

  test.each([
    ['pull', () => client.pull(request)],
    ['delete', () => client.delete(request)],
    ['copy', () => client.copy({ source: 'mine', destination: 'yours' })],
    ['create', () => client.create(request)],
    ['push', () => client.push(request)],
  ])('%s needs models:manage', async (_name, ask) => {
    await expect(ask()).rejects.toMatchObject(refusal);
  });
});

describe('what is not done here', () => {
  test('making and publishing models is refused as not implemented', async () => {
    await expect(manager.create({ model: 'x', from: 'mine' })).rejects.toMatchObject({
      status_code: 501,
      error: 'models are not made here: pull one, or add a GGUF file',
    });
    const refusal = { status_code: 501, error: 'models are not published from here' };
    await expect(manager.push({ model: 'mine' })).rejects.toMatchObject(refusal);
  });

  test('a model of another runtime is not deleted, nor one that does not exist', async () => {
    await expect(manager.delete({ model: 'far' })).rejects.toMatchObject({
      status_code: 409,
      error: 'far belongs to the runtime ollama',
    });
    await expect(manager.delete({ model: 'nope' })).rejects.toMatchObject({ status_code: 404 });
    expect(await send('DELETE', '/api/delete', {})).toEqual({
      status: 400,
      body: { error: 'model must be given' },
    });
  });
});

describe('models', () => {
  test('are listed with size, digest and details', async () => {
    const { models } = await client.list();
    const modified = '2026-01-02T03:04:05.000Z';
    const common = { size: 1_234_567, modified_at: modified };
    const elsewhere = { ...details, format: '' };
    expect(models).toEqual([
      { ...common, name: 'mine', model: 'mine', digest, details, removable: true },
      {
        ...common,
        name: 'far',
        model: 'far',
        digest: '',
        details: { ...elsewhere, parameter_size: '' },
        removable: false,
      },
      {
        ...common,
        name: 'ennead-embed',
        model: 'ennead-embed',
        digest,
        details: { ...elsewhere, family: '', families: [], parameter_size: '1.2B' },
        removable: false,
      },
    ]);
  });

  test('in memory say how much they take and when they leave', async () => {
    const { models } = await client.ps();
    const common = { size: 2_000_000, size_vram: 0, context_length: 1024 };
    expect(models).toEqual([
      {
        ...common,
        name: 'mine',
        model: 'mine',
        digest,
        details,
        expires_at: '2026-01-02T03:09:05.000Z',
      },
      {
        ...common,
        name: 'far',
        model: 'far',
        digest: '',
        details: { ...details, format: '', parameter_size: '' },
        expires_at: '9999-12-31T23:59:59.000Z',
      },
    ]);
  });

  test('of this machine are shown with what their file says', async () => {
    const shown = await client.show({ model: 'mine' });
    expect(shown).toMatchObject({
      modelfile: 'FROM mine\n',
      parameters: '',
      system: '',
      details,
      capabilities: ['completion', 'tools'],
      modified_at: '2026-01-02T03:04:05.000Z',
      model_info: { 'general.architecture': 'llama', 'llama.context_length': expect.any(Number) },
    });
    expect(shown.template).not.toBe('');
    expect(await send('POST', '/api/show', { name: 'mine' })).toEqual({ status: 200, body: shown });
  });

  test('of another runtime are shown with what that says', async () => {
    const shown = await client.show({ model: 'ennead-embed' });
    expect(shown.capabilities).toEqual(['embedding']);
    expect(shown.license).toBe('');
    expect(await client.show({ model: 'far' })).toMatchObject({
      model_info: { 'general.architecture': 'llama', 'llama.context_length': 2048 },
    });
  });

  test('are copied and deleted by who may', async () => {
    expect(await manager.copy({ source: 'mine', destination: 'yours' })).toEqual({
      status: 'success',
    });
    const twice = manager.copy({ source: 'mine', destination: 'yours' });
    await expect(twice).rejects.toMatchObject({ status_code: 409 });
    const ours = manager.copy({ source: 'mine', destination: 'Ennead-Embed:v1' });
    await expect(ours).rejects.toMatchObject({ status_code: 409 });
    expect(await manager.delete({ model: 'mine' })).toEqual({ status: 'success' });
    expect(inference.memory).toEqual(['unload mine']);
    const names = (await service.library.list()).map(({ name }) => name);
    expect(names).toEqual(['yours']);
  });
});

describe('pulls', () => {
  const progress = [
    { status: 'pulling manifest' },
    { status: 'pulling abc', digest: 'sha256:abc', total: 10, completed: 4 },
    { status: 'success' },
  ];

  test('that fail at once give a status, those that fail later a line', async () => {
    const fault = new Fault('upstream', 'the source has gone');
    service.puller.events = [fault];
    const request = { model: 'qwen3' };
    const refusal = { status_code: 502, error: 'the source has gone' };
    await expect(manager.pull(request)).rejects.toMatchObject(refusal);
    await expect(manager.pull({ ...request, stream: true })).rejects.toMatchObject(refusal);
    service.puller.events = [...progress.slice(0, 2), fault];
    const stream = await manager.pull({ ...request, stream: true });
    await expect(collect(stream)).rejects.toThrow('the source has gone');
    await expect(manager.pull(request)).rejects.toMatchObject(refusal);
  });

  test('without a check of certificates are refused', async () => {
    await expect(manager.pull({ model: 'qwen3', insecure: true })).rejects.toMatchObject({
      status_code: 400,
      error: 'insecure is not supported by local models',
    });
  });

  test('say how far they are, or only that they have ended', async () => {
    service.puller.events = progress;
    service.puller.names.length = 0;
    const stream = await manager.pull({ model: 'hf.co/owner/model:Q4', stream: true });
    expect(await collect(stream)).toEqual(progress);
    expect(await manager.pull({ model: 'qwen3' })).toEqual({ status: 'success' });
    expect(service.puller.names).toEqual(['hf.co/owner/model:Q4', 'qwen3']);
  });
});

describe('embeddings', () => {
  test.each([
    [
      { input: Array.from({ length: 2049 }, () => 'a') },
      'body.input must not have more than 2048 items',
    ],
    [{ input: ['a', null] }, 'body.input.1 must be string'],
    [{ input: 'a', keep_alive: {} }, 'body.keep_alive must be number or string'],
  ])('of what makes no sense are refused with the limit', async (fields, error) => {
    expect(await send('POST', '/api/embed', { model: 'ennead-embed', ...fields })).toEqual({
      status: 400,
      body: { error },
    });
  });

  test('of a model that makes none, or of another dimension, are refused', async () => {
    await expect(client.embed({ model: 'mine', input: 'a' })).rejects.toMatchObject({
      status_code: 400,
    });
    const cut = client.embed({ model: 'ennead-embed', input: 'a', dimensions: 2 });
    await expect(cut).rejects.toMatchObject({
      status_code: 400,
      error: 'dimensions must be 4, the number that the model has',
    });
  });

  test('come for one text or many, with the counts and timings', async () => {
    const answer = await client.embed({ model: 'ennead-embed', input: ['abcd', ''] });
    expect(answer).toEqual({
      model: 'ennead-embed',
      embeddings: [
        [4, 2, 1, 0.5],
        [0, 0, 0, 0],
      ],
      dimensions: 4,
      normalised: false,
      total_duration: expect.any(Number),
      load_duration: 500_000,
      prompt_eval_count: 4,
    });
    const older = await client.embeddings({ model: 'ennead-embed', prompt: 'abcd' });
    expect(older).toEqual({ embedding: [4, 2, 1, 0.5] });
  });

  test('of nothing load the model, or unload it', async () => {
    const nothing = await client.embed({ model: 'ennead-embed', input: '', keep_alive: '5m' });
    expect(nothing).toMatchObject({ embeddings: [], dimensions: 4, prompt_eval_count: 0 });
    await client.embed({ model: 'ennead-embed', input: '', keep_alive: 0 });
    await client.embed({ model: 'ennead-embed', input: 'abcd', keep_alive: 0 });
    expect(inference.memory).toEqual([
      'load ennead-embed 300000',
      'unload ennead-embed',
      'load ennead-embed 0',
    ]);
  });
});

test('clients see that they are in the right place, without a token', async () => {
  const stranger = new Ollama({ host: service.url });
  expect(await stranger.version()).toEqual({ version: '1.0.0' });
  const banner = await fetch(`${service.url}/`);
  expect(banner.headers.get('content-type')).toContain('text/plain');
  expect(await banner.text()).toBe('Ollama is running');
  expect((await fetch(`${service.url}/`, { method: 'HEAD' })).status).toBe(200);
});
