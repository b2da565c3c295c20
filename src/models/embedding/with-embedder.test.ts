import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { silentLog, startService } from '../../kit/testing.ts';
import { Backends } from '../inference/backends.ts';
import { describeModel, ScriptedInference } from '../inference/testing.ts';
import { models } from '../service.ts';
import { Embedders } from './embedders.ts';
import { inBoxEmbedderFile } from './static-embedder.ts';
import { findEmbedder, WithEmbedder } from './with-embedder.ts';

const inner = new ScriptedInference([
  describeModel('writer'),
  describeModel('other-embedder', { capabilities: ['embedding'], embeddingDimensions: 3 }),
]);
const inference = new WithEmbedder(inner, new Embedders());
const caller = { subject: 'usr_test', signal: new AbortController().signal };

describe('beside other models', () => {
  test('a file of its name never stands in its place', async () => {
    const taken = { capabilities: ['embedding'], embeddingDimensions: 3 } as const;
    const files = new ScriptedInference([
      describeModel('Ennead-Embed:latest', taken),
      describeModel('ennead-embed', taken),
      describeModel('writer'),
    ]);
    const local = new WithEmbedder(files, new Embedders());
    const all = new Backends({ local, externals: [], log: silentLog });
    expect((await all.list()).map(({ name }) => name)).toEqual(['writer', 'ennead-embed']);
    for (const name of [undefined, 'ennead-embed', 'ENNEAD-EMBED:latest']) {
      const model = await findEmbedder(all, name);
      expect(model).toMatchObject({ runtime: 'in-box', embeddingDimensions: 128 });
      expect(await all.embed(model, ['a'], caller)).toMatchObject({ dimensions: 128 });
    }
  });

  test('the in-box embedder is refused where a text is to be written', async () => {
    const model = await inference.find('ennead-embed');
    const request = { prompt: { text: 'a' } };
    expect(() => inference.generate(model, request, caller)).toThrow(
      expect.objectContaining({ code: 'invalid', reason: 'unsupported_model' }),
    );
  });

  test('a name that nobody has is not found, for embeddings too', async () => {
    await expect(findEmbedder(inference, 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('the in-box embedder is the last of the list and never the default', async () => {
    const names = (await inference.list()).map(({ name }) => name);
    expect(names).toEqual(['writer', 'other-embedder', 'ennead-embed']);
    expect(await inference.find(undefined)).toMatchObject({ name: 'writer' });
  });

  test('it embeds where no model is named, and another one where that is named', async () => {
    expect(await findEmbedder(inference, undefined)).toMatchObject({ name: 'ennead-embed' });
    const other = await findEmbedder(inference, 'other-embedder');
    const { dimensions, isNormalised } = await inference.embed(other, ['a'], caller);
    expect({ dimensions, isNormalised }).toEqual({ dimensions: 3, isNormalised: false });
  });

  test('its name may be written with the tag latest', async () => {
    expect(await inference.find('ennead-embed:latest')).toMatchObject({ name: 'ennead-embed' });
  });

  test('its answer counts the tokens of all texts and says how long it took', async () => {
    const model = await inference.find('ennead-embed');
    const { vectors, tokens, dimensions, timings } = await inference.embed(
      model,
      ['two words', 'and three more'],
      caller,
    );
    expect(vectors.map(({ length }) => length)).toEqual([dimensions, dimensions]);
    expect(dimensions).toBe(model.embeddingDimensions);
    expect(tokens).toBe(5);
    expect(timings.evalMs).toBeGreaterThan(0);
  });
});

describe('through the APIs', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let headers: Record<string, string>;
  beforeAll(async () => {
    service = await startService(models);
    headers = { authorization: `Bearer ${await service.issuer.sign()}` };
  });
  afterAll(() => service[Symbol.asyncDispose]());

  async function post(url: string, payload: object): Promise<unknown> {
    const reply = await service.app.inject({ method: 'POST', url, headers, payload });
    return reply.json();
  }

  test('a blank text is refused by its place', async () => {
    const input = ['a green apple', ' \n'];
    const [openAi, ollama, older, tool] = await Promise.all([
      post('/v1/embeddings', { input }),
      post('/api/embed', { input }),
      post('/api/embeddings', { model: 'ennead-embed', prompt: ' ' }),
      post('/invoke', { tool: 'embed', input: { prompt: input } }),
    ]);
    const place = expect.stringContaining('input[1]') as string;
    expect(openAi).toMatchObject({ error: { message: place, type: 'invalid_request_error' } });
    expect(ollama).toEqual({ error: place });
    expect(older).toEqual({ error: expect.stringContaining('input[0]') as string });
    const ownPlace = expect.stringContaining('input.prompt.1') as string;
    expect(tool).toMatchObject({ error: { code: 'VALIDATION_ERROR', message: ownPlace } });
  });

  test('what it says of itself is true of its file', async () => {
    const file = await readFile(inBoxEmbedderFile);
    const reply = await service.app.inject({ method: 'GET', url: '/api/tags', headers });
    const { models: listed } = reply.json<{ models: { name: string }[] }>();
    expect(listed.find(({ name }) => name === 'ennead-embed')).toMatchObject({
      size: file.length,
      digest: createHash('sha256').update(file).digest('hex'),
      details: { parameter_size: expect.stringMatching(/^\d+\.\dM$/) as string },
    });
  });

  test('OpenAI, Ollama and the tools answer the same vector under its name', async () => {
    const text = 'a green apple';
    const [openAi, ollama, tool] = await Promise.all([
      post('/v1/embeddings', { model: 'ennead-embed', input: text, encoding_format: 'float' }),
      post('/api/embed', { model: 'ennead-embed', input: text }),
      post('/invoke', { tool: 'embed', input: { prompt: text } }),
    ]);
    const { result } = tool as { result: { output: number[] } };
    expect(openAi).toMatchObject({ model: 'ennead-embed', data: [{ embedding: result.output }] });
    expect(ollama).toMatchObject({ model: 'ennead-embed', embeddings: [result.output] });
  });
});
