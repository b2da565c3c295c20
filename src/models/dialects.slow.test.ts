import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenAnywhere, startService } from '../kit/testing.ts';
import { collect } from './dialects-testing.ts';
import { models } from './service.ts';

/** The clients as they are published, before the service as it runs. */
let service: Awaited<ReturnType<typeof startService>>;
let openai: OpenAI;
let ollama: Ollama;
let model: string;

beforeAll(async () => {
  service = await startService(models);
  const url = await listenAnywhere(service.host.http);
  const token = await service.issuer.sign();
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
  ollama = new Ollama({ host: url, headers: { Authorization: `Bearer ${token}` } });
  model = (await ollama.list()).models[0]!.name;
});

afterAll(() => service[Symbol.asyncDispose]());

const messages = [{ role: 'user' as const, content: 'What is the capital of Switzerland?' }];

test('a prompt beyond the context is refused by both, and names the limit', async () => {
  const content = 'word '.repeat(60_000);
  const chat = { model, messages: [{ role: 'user' as const, content }] };
  await expect(openai.chat.completions.create(chat)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/context/) as string,
  });
  await expect(ollama.chat({ ...chat, stream: true })).rejects.toMatchObject({
    status_code: 400,
    error: expect.stringMatching(/context/) as string,
  });
});

test('a model that only embeds writes nothing', async () => {
  const chat = { model: 'ennead-embed', messages };
  const refusal = { status: 400, param: 'model' };
  await expect(openai.chat.completions.create(chat)).rejects.toMatchObject(refusal);
  await expect(ollama.chat(chat)).rejects.toMatchObject({ status_code: 400 });
});

describe('the same seed gives the same text', () => {
  const seed = 7;

  test('to the openai client, whole and streamed', async () => {
    const request = { model, messages, max_tokens: 8, temperature: 0.5, seed };
    const whole = await openai.chat.completions.create(request);
    const stream = await openai.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(text).not.toBe('');
    const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
    expect(reasons).toEqual([whole.choices[0]?.finish_reason]);
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(whole.usage?.total_tokens);
    const { prompt_tokens: prompt, completion_tokens: completion } = whole.usage!;
    expect(prompt).toBeGreaterThan(1);
    expect(completion).toBeGreaterThan(0);
    expect(completion).toBeLessThanOrEqual(8);
    expect(whole.usage!.total_tokens).toBe(prompt + completion);
  });

  test('to the ollama client, whole and streamed, with timings that add up', async () => {
    const options = { num_predict: 8, temperature: 0.5, seed };
    const whole = await ollama.generate({ model, prompt: 'Once', options });
    const request = { model, prompt: 'Once', options, stream: true } as const;
    const lines = await collect(await ollama.generate(request));
    expect(lines.map(({ response }) => response).join('')).toBe(whole.response);
    const last = lines.at(-1)!;
    expect(last.done_reason).toBe(whole.done_reason);
    expect(last.prompt_eval_count).toBe(whole.prompt_eval_count);
    expect(last.eval_count).toBe(whole.eval_count);
    for (const end of [whole, last]) {
      const { total_duration: total, load_duration: load } = end;
      const { prompt_eval_duration: prompt, eval_duration: rest } = end;
      for (const duration of [total, prompt, rest]) expect(duration).toBeGreaterThan(0);
      for (const duration of [total, load, prompt, rest])
        expect(Number.isInteger(duration)).toBe(true);
      expect(load).toBeGreaterThanOrEqual(0);
      expect(load + prompt + rest).toBeLessThanOrEqual(total);
    }
  });

  test('to both, where the text is continued as it stands', async () => {
    const text = await openai.completions.create({
      model,
      prompt: 'Once upon',
      max_tokens: 6,
      temperature: 0,
    });
    const options = { num_predict: 6, temperature: 0 };
    const raw = await ollama.generate({ model, prompt: 'Once upon', raw: true, options });
    expect(raw.response).toBe(text.choices[0]?.text);
    expect(raw.eval_count).toBe(text.usage?.completion_tokens);
  });
});

describe('the model cannot write anything but', () => {
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' }, size: { enum: ['small', 'large'] } },
    required: ['ok', 'size'],
    additionalProperties: false,
  };
  const fits = {
    ok: expect.any(Boolean) as boolean,
    size: expect.stringMatching(/^(small|large)$/),
  };

  test('JSON of the schema that was asked for', async () => {
    const { message } = await ollama.chat({ model, messages, format: schema });
    expect(JSON.parse(message.content)).toEqual(fits);
    const { choices } = await openai.chat.completions.create({
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });
    expect(JSON.parse(choices[0]!.message.content!)).toEqual(fits);
  });

  test('a call of the tool that it must call', async () => {
    const { choices } = await openai.chat.completions.create({
      model,
      messages,
      tools: [{ type: 'function', function: { name: 'measure', parameters: schema } }],
      tool_choice: { type: 'function', function: { name: 'measure' } },
    });
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    const [call] = choices[0]!.message.tool_calls!;
    expect(call).toMatchObject({ type: 'function', function: { name: 'measure' } });
    const { arguments: text } = (call as { function: { arguments: string } }).function;
    expect(JSON.parse(text)).toEqual(fits);
  });
});

describe('a schema as Zod writes it is held to', () => {
  const ask = (schema: Readonly<Record<string, unknown>>, max_tokens = 200) =>
    openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Write JSON' }],
      max_tokens,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });

  test('of bounds and records', async () => {
    const properties = {
      count: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
      share: { type: 'number', minimum: 0, maximum: 1 },
      price: { type: 'number', exclusiveMinimum: 0 },
      sizes: {
        propertyNames: { type: 'string' },
        properties: { a: { const: 3 } },
        required: ['a'],
      },
    };
    const required = Object.keys(properties);
    const { choices } = await ask({ type: 'object', properties, required });
    const answer = JSON.parse(choices[0]!.message.content!);
    expect(answer.sizes).toEqual({ a: 3 });
    expect(answer.share).toBeLessThanOrEqual(1);
    expect(answer.price).toBeGreaterThan(0);
    expect(Math.abs(answer.count)).toBeLessThan(2 ** 31 + 1);
  });

  test('of long texts', async () => {
    const { choices } = await ask({ type: 'string', maxLength: 20_000 }, 3);
    expect(choices[0]?.message.content).toMatch(/^"/);
  });
});

test('a model that was asked is in memory until it is unloaded', async () => {
  await ollama.generate({ model, prompt: 'Once', options: { num_predict: 1 }, keep_alive: '10m' });
  const [running] = (await ollama.ps()).models;
  expect(running).toMatchObject({ name: model, model });
  expect(running!.size).toBeGreaterThan(0);
  const unloaded = await ollama.generate({ model, prompt: '', keep_alive: 0 });
  expect(unloaded).toMatchObject({ done: true, done_reason: 'unload' });
  await expect.poll(async () => (await ollama.ps()).models).toEqual([]);
});

test('both embed the same text as the same vector', async () => {
  const input = 'the cat sat on the mat';
  const { embeddings } = await ollama.embed({ model: 'ennead-embed', input });
  const { data } = await openai.embeddings.create({ model: 'ennead-embed', input: [input] });
  expect(embeddings[0]).toEqual([...data[0]!.embedding]);
  const length = Math.hypot(...embeddings[0]!);
  expect(length).toBeCloseTo(1, 5);
});
