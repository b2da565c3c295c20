import { mkdtemp, rm } from 'node:fs/promises';
import { isIPv4, isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonSchema } from '../../inference/request.ts';
import { writeRandomModel } from '../../random-model/random-gguf.ts';
import { ChildRuntime } from '../child-runtime.ts';

// The weights are random: what comes out right comes from the grammar, never from the model.
let folder: string;
let modelPath: string;
let runtime: ChildRuntime;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-formats-'));
  modelPath = join(folder, 'writer.gguf');
  await writeRandomModel(modelPath);
  runtime = new ChildRuntime({ log: pino({ level: 'silent' }), threads: 1 });
});

afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** What the model writes of the schema, when it comes to an end. */
async function write(schema: JsonSchema, seed: number): Promise<string | undefined> {
  const prompt = { messages: [{ role: 'user', content: 'write' }] } as const;
  const request = { modelPath, prompt, temperature: 2, topP: 1, seed, maxTokens: 400 };
  let text = '';
  const format = { type: 'json', schema } as const;
  for await (const event of runtime.generate({ ...request, format }, { subject: 'anna' })) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'end' && event.finishReason !== 'stop') return undefined;
  }
  return text;
}

const isHost = (text: string) =>
  text.length <= 253 && /^(?:(?!-)[\da-z-]{1,63}(?<!-)(?:\.|$))+$/i.test(text);
const isEmail = (text: string) => {
  const [local = '', host = ''] = text.split('@');
  return (
    /^(?!\.)(?!.*\.\.)[\w+.-]{1,64}(?<!\.)$/.test(local) &&
    isHost(host) &&
    /\.[a-z]{2,}$/i.test(host)
  );
};
const isUri = (text: string) =>
  URL.canParse(text) && /^[a-z][\d+.a-z-]*:\/\/[^\s"<>\\^`{|}]+$/.test(text);
const duration =
  /^P(?:\d+W|(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;

test.for<[JsonSchema, (text: string) => boolean]>([
  [{ format: 'hostname', minLength: 1, maxLength: 253 }, isHost],
  [{ format: 'ipv4' }, isIPv4],
  [{ format: 'ipv6', maxLength: 39 }, isIPv6],
  [{ format: 'uri', minLength: 1 }, isUri],
  [{ format: 'uri', maxLength: 300 }, (text) => isUri(text) && text.length <= 300],
  [{ format: 'email' }, isEmail],
  [{ format: 'duration' }, (text) => duration.test(text)],
  [{ format: 'password', maxLength: 20 }, (text) => text.length <= 20],
  // As Zod writes them.
  [
    {
      format: 'email',
      maxLength: 254,
      pattern: String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`,
    },
    isEmail,
  ],
  [
    {
      format: 'hostname',
      pattern: String.raw`^(?=.{1,253}\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\.?$`,
    },
    isHost,
  ],
])('of %j only what has that form is written', async ([schema, isOf]) => {
  const seeds = Array.from({ length: 8 }, (_, seed) => seed + 1);
  const texts = await Promise.all(seeds.map((seed) => write({ type: 'string', ...schema }, seed)));
  const ended = texts.filter((text) => text !== undefined);
  expect(ended.length).toBeGreaterThan(0);
  const { pattern } = schema;
  const matches = new RegExp(typeof pattern === 'string' ? pattern : '', 'u');
  for (const text of ended) {
    const value = String(JSON.parse(text));
    expect(isOf(value) && matches.test(value), text).toBe(true);
  }
});

test.each<JsonSchema>([
  { type: 'integer', minimum: -1_000, multipleOf: 25 },
  { type: 'integer', minimum: 0, maximum: 59, multipleOf: 15 },
  { type: 'number', minimum: 0, maximum: 1_000, multipleOf: 0.25 },
])('of %j only multiples are written', async (schema) => {
  const size = Number(schema['multipleOf']);
  const texts = await Promise.all([1, 2, 3, 4].map((seed) => write(schema, seed)));
  for (const text of texts) expect(Math.abs(Number(text) % size), text).toBe(0);
});
