import { Ajv2020 } from 'ajv/dist/2020.js';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ChatMessage, GenerateRequest, JsonSchema, ToolCall } from '../inference/request.ts';
import { writeRandomModel } from '../random-model/random-gguf.ts';
import type { RuntimeRequest } from './request.ts';
import type { Runtime } from './runtime.ts';
import { ChildRuntime } from './child-runtime.ts';

// The weights are random: what comes out right comes from the grammar, never from the model.
let folder: string;
let writer: string;
let embedder: string;
let runtime: Runtime;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-abilities-'));
  writer = join(folder, 'writer.gguf');
  embedder = join(folder, 'embedder.gguf');
  await writeRandomModel(writer);
  await writeRandomModel(embedder, { isEmbedding: true });
  runtime = new ChildRuntime({ log: pino({ level: 'silent' }), threads: 1 });
});

afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const messages: readonly ChatMessage[] = [{ role: 'user', content: 'the user' }];

async function ask(request: Partial<RuntimeRequest>, subject = 'anna') {
  let text = '';
  const calls: ToolCall[] = [];
  const usual = { modelPath: writer, prompt: { messages }, temperature: 0, maxTokens: 300 };
  for await (const event of runtime.generate({ ...usual, ...request }, { subject })) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'tool-call') calls.push(event.call);
    else return { text, calls, end: event };
  }
  throw new Error('the stream ended without an end event');
}

/** As Qwen's: the tools in the system turn, calls between marks. */
const toolTemplate =
  "{% if tools %}{{ '<|im_start|>system\\n<tools>' }}{% for tool in tools %}{{ tool | tojson }}" +
  "{% endfor %}{{ '</tools><|im_end|>\\n' }}{% endif %}" +
  "{% for message in messages %}{% if message.role == 'tool' %}" +
  "{{ '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}" +
  "{% else %}{{ '<|im_start|>' + message.role + '\\n' + (message.content or '') }}" +
  '{% if message.tool_calls %}{% for call in message.tool_calls %}' +
  '{{ \'<tool_call>\\n{"name": "\' + call.function.name + \'", "arguments": \' }}' +
  "{{ call.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}{% endif %}" +
  "{{ '<|im_end|>\\n' }}{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const calculator = {
  name: 'add',
  description: 'Adds two numbers',
  parameters: {
    type: 'object',
    properties: { a: { type: 'integer', minimum: 0, maximum: 99 }, exact: { type: 'boolean' } },
    required: ['a'],
  },
};

describe('a format', () => {
  test.for<[string, JsonSchema]>([
    ['pattern', { type: 'string', pattern: '^(?:(?:a|b)?){300}$' }],
    ['multipleOf', { type: 'object', properties: { n: { type: 'number', multipleOf: 3 } } }],
    ['format', { type: 'string', format: 'jwt' }],
    ['minimum', { type: 'number', minimum: 0.5 }],
    ['uniqueItems', { type: 'array', uniqueItems: true }],
    ['not', { not: { type: 'string' } }],
    ['$ref', { $ref: 'https://example.org/schema' }],
    ['allOf', { allOf: [{ type: 'string' }, { maxLength: 2 }] }],
    ['anyOf', { anyOf: [{ type: 'string' }], type: 'string' }],
    ['type', { type: 'date' }],
    ['maxItems', { type: 'array', minItems: 3, maxItems: 1 }],
    ['maxLength', { type: 'string', maxLength: 100_000 }],
  ])(
    'with the keyword %s that a grammar cannot hold is refused by its name',
    async ([name, schema]) => {
      await expect(ask({ format: { type: 'json', schema } })).rejects.toMatchObject({
        code: 'invalid',
        reason: 'unsupported_schema',
        detail: { keyword: name },
      });
    },
  );

  const many = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);
  /** Each level doubles the ways in which the same text can be read. */
  const doubling = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => {
      const next = i < 19 ? { $ref: `#/$defs/d${i + 1}` } : { const: 'z' };
      return [`d${i}`, { anyOf: [{ anyOf: [next, { const: 'a' }] }, { anyOf: [next] }] }];
    }),
  );

  test.for<[string, JsonSchema]>([
    ['2000 parts', { enum: many(5000) }],
    ['2000 parts', { type: 'array', prefixItems: [{ enum: many(1500) }, { enum: many(600) }] }],
    ['65536 characters', { enum: many(120_000) }],
    ['65536 characters', { type: 'string', description: 'a'.repeat(70_000) }],
    ['2000 choices', { $defs: doubling, $ref: '#/$defs/d0' }],
    [
      '20000 in all',
      { prefixItems: Array.from({ length: 21 }, () => ({ type: 'string', maxLength: 1000 })) },
    ],
  ])('of more than %s is refused', async ([limit, schema]) => {
    await expect(ask({ format: { type: 'json', schema } })).rejects.toMatchObject({
      code: 'invalid',
      reason: 'unsupported_schema',
      message: expect.stringContaining(limit),
    });
  });

  test('of a hundred long labels is kept to', async () => {
    const labels = many(100).map((label) => label + 'x'.repeat(110));
    const { text } = await ask({ format: { type: 'json', schema: { enum: labels } } });
    expect(labels).toContain(JSON.parse(text));
  });

  test('beside tools is refused', async () => {
    const answer = ask({ format: { type: 'json' }, tools: [calculator] });
    await expect(answer).rejects.toMatchObject({ code: 'invalid', detail: { param: 'format' } });
  });

  test.for<JsonSchema>([
    { enum: ['yes', 'no', null, 3, { a: [1] }] },
    { const: 'a "quoted"\n\tline \\ é' },
    { type: 'integer', minimum: -3, exclusiveMaximum: 4 },
    { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
    { type: ['boolean', 'null'] },
    { type: 'string', minLength: 2, maxLength: 5 },
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'uuid' },
    { type: 'string', pattern: String.raw`^[A-Z]{2}-\d{3,4}(?:/[^a-z0-9])?$` },
    { pattern: String.raw`^(?:red|"green"|\\blue|[\w.+-]{2,5}@\S\.(?:com|org))$`, maxLength: 30 },
    // Dates as Zod writes them.
    {
      format: 'date',
      pattern: String.raw`^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))$`,
    },
    { type: 'array', items: { type: 'boolean' }, minItems: 2, maxItems: 4 },
    { type: 'array', prefixItems: [{ const: 1 }, { const: 2 }], items: false },
    { type: 'array', prefixItems: [{ const: 1 }], items: { const: 2 }, minItems: 2, maxItems: 3 },
    { type: 'array', maxItems: 0 },
    {
      anyOf: [{ type: 'boolean' }, { type: 'object', properties: {}, additionalProperties: false }],
    },
    {
      type: 'object',
      properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 }, 'd "d"': { const: 4 } },
      required: ['b', 'd "d"'],
      additionalProperties: false,
    },
    {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: { leaf: { type: 'boolean' }, next: { $ref: '#/$defs/tree' } },
          required: ['leaf'],
        },
      },
    },
  ])('of the schema %j only lets through what the schema accepts', async (schema) => {
    const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const seeds = [1, 2, 3, 4, 5, 6];
    const answers = await Promise.all(
      seeds.map((seed) => ask({ format: { type: 'json', schema }, temperature: 2, topP: 1, seed })),
    );
    const ended = answers.filter(({ end }) => end.finishReason === 'stop');
    expect(ended.length).toBeGreaterThan(0);
    for (const { text } of ended) expect(isValid(JSON.parse(text)), text).toBe(true);
  });

  test('of any JSON begins as an object', async () => {
    const { text } = await ask({ format: { type: 'json' }, maxTokens: 10 });
    expect(text).toMatch(/^\{ ?["}]/);
  });
});

describe('a tool', () => {
  test.for<Partial<GenerateRequest>>([
    { toolChoice: 'required' },
    { tools: [calculator], toolChoice: { name: 'subtract' } },
    { tools: [calculator, calculator] },
    { tools: [{ name: 'a b' }] },
    { tools: [{ name: 'a', parameters: { type: 'string' } }] },
    { tools: [{ name: 'a', parameters: { type: ['array', 'null'] } }], toolChoice: 'none' },
    { tools: [calculator], prompt: { text: 'the' } },
    { prompt: { messages: [...messages, { role: 'tool', callId: 'x', content: '1' }] } },
    {
      prompt: {
        messages: [
          { role: 'assistant', content: '', toolCalls: [{ id: 'x', name: 'add', arguments: {} }] },
          ...messages,
        ],
      },
    },
  ])('in %j is refused', async (request) => {
    await expect(ask(request)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('that has to be called is called with arguments of its schema, and nothing is text', async () => {
    const seeds = [1, 2, 3, 4];
    const tools = [calculator, { name: 'now' }];
    const answers = await Promise.all(
      seeds.map((seed) => ask({ tools, toolChoice: 'required', temperature: 2, topP: 1, seed })),
    );
    for (const { text, calls, end } of answers) {
      expect(text).toBe('');
      expect(calls).toHaveLength(1);
      expect(end.finishReason).toBe('tool-calls');
      const [{ name, arguments: given }] = calls as [ToolCall];
      if (name === 'now') expect(given).toEqual({});
      else expect(given['a']).toBeOneOf(Array.from({ length: 100 }, (_, i) => i));
    }
    expect(new Set(answers.map(({ calls }) => calls[0]?.id)).size).toBe(seeds.length);
  });

  test('of a name is the only one that can be called', async () => {
    const tools = [{ name: 'now' }, calculator];
    const { calls } = await ask({ tools, toolChoice: { name: 'add' } });
    expect(calls).toMatchObject([{ name: 'add', arguments: { a: expect.any(Number) } }]);
  });

  test('with a schema beyond any grammar is called all the same', async () => {
    const parameters = {
      type: 'object',
      properties: { when: { type: 'number', multipleOf: 7 }, kind: { enum: ['x'] } },
      required: ['kind'],
    };
    const tools = [{ name: 'plan', parameters }];
    const { calls } = await ask({ tools, toolChoice: 'required', temperature: 1, seed: 4 });
    expect(calls).toMatchObject([{ name: 'plan', arguments: { kind: 'x' } }]);
  });

  test('with a schema too large for a grammar is offered all the same', async () => {
    const kind = { enum: Array.from({ length: 5000 }, (_, i) => `v${i}`) };
    const tools = [{ name: 'plan', parameters: { type: 'object', properties: { kind } } }];
    const { end } = await ask({ tools, toolChoice: 'required', maxTokens: 4 });
    expect(end.usage.completionTokens).toBe(4);
  });

  test('is described to the model, and with none to choose it is not', async () => {
    const count = async (request: Partial<GenerateRequest>) => {
      const { end } = await ask({ ...request, maxTokens: 1 });
      return end.usage.promptTokens;
    };
    const bare = await count({});
    expect(await count({ tools: [calculator] })).toBeGreaterThan(bare + 50);
    expect(await count({ tools: [calculator], toolChoice: 'none' })).toBe(bare);
  });

  test('is called in the syntax of a template that knows tools', async () => {
    const modelPath = join(folder, 'tools.gguf');
    await writeRandomModel(modelPath, { chatTemplate: toolTemplate });
    const history: ChatMessage[] = [
      ...messages,
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'x', name: 'add', arguments: { a: 1 } }],
      },
      { role: 'tool', callId: 'x', content: '2' },
    ];
    const prompt = { messages: history };
    const request = { prompt, tools: [calculator], toolChoice: 'required' } as const;
    const own = await ask({ ...request, modelPath });
    expect(own.text).toBe('');
    expect(own.calls[0]).toMatchObject({ name: 'add', arguments: { a: expect.any(Number) } });
    // The template prints the schemas, the plain form only the names.
    const plain = await ask(request);
    expect(own.end.usage.promptTokens).toBeGreaterThan(plain.end.usage.promptTokens + 100);
    await runtime.unload(modelPath);
  });

  test('answers in the history, and the chat goes on behind its answer', async () => {
    const history: ChatMessage[] = [
      ...messages,
      {
        role: 'assistant',
        content: 'one moment',
        toolCalls: [
          { id: 'x', name: 'add', arguments: { a: 1 } },
          { id: 'y', name: 'add', arguments: { a: 2 } },
        ],
      },
      { role: 'tool', callId: 'y', content: 'plain' },
      { role: 'tool', callId: 'x', content: '{"sum": 4711}' },
    ];
    const { end } = await ask({ prompt: { messages: history }, tools: [calculator], maxTokens: 2 });
    expect(end.usage.completionTokens).toBe(2);
  });
});

describe('sampling', () => {
  test.for<Partial<GenerateRequest>>([
    { minP: -0.1 },
    { minP: Number.NaN },
    { repeatPenalty: 0 },
    { frequencyPenalty: 3 },
    { presencePenalty: Number.NaN },
    { keepAliveMs: -1 },
  ])('with %j is refused', async (request) => {
    await expect(ask(request)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('obeys minP and the penalties', async () => {
    const greedy = await ask({ maxTokens: 30 });
    const narrow = await ask({ maxTokens: 30, temperature: 5, topP: 1, topK: 0, minP: 1 });
    expect(narrow.text).toBe(greedy.text);
    const words = (text: string) => new Set(text.trim().split(' ')).size;
    const penalised = await ask({ maxTokens: 30, frequencyPenalty: 2, presencePenalty: 2 });
    expect(words(penalised.text)).toBeGreaterThan(words(greedy.text));
    expect((await ask({ maxTokens: 30, repeatPenalty: 5 })).text).not.toBe(greedy.text);
  });
});

describe('a prompt that begins as an earlier one', () => {
  const chat = (content: string) => ({
    prompt: { messages: [{ role: 'user', content } as const] },
  });

  test('is only read from where it differs, with the same answer', async () => {
    const first = chat('the word is hot and the water is not');
    const fresh = await ask({ ...first, maxTokens: 40 }, 'carl');
    expect(fresh.end.usage.cachedPromptTokens).toBe(0);
    const again = await ask({ ...first, maxTokens: 40 }, 'carl');
    expect(again.text).toBe(fresh.text);
    expect(again.end.usage.cachedPromptTokens).toBe(again.end.usage.promptTokens - 1);
    const other = await ask({ ...chat('the word is hot and long'), maxTokens: 40 }, 'carl');
    const unseen = await ask({ ...chat('the word is hot and long'), maxTokens: 40 }, 'dora');
    expect(other.end.usage.cachedPromptTokens).toBeGreaterThan(5);
    expect(other.text).toBe(unseen.text);
  });

  test('of another subject is read anew, and so is one with a seed', async () => {
    const prompt = chat('my people know the way by now');
    await ask({ ...prompt, maxTokens: 2 }, 'emil');
    const foreign = await ask({ ...prompt, maxTokens: 2 }, 'fred');
    expect(foreign.end.usage.cachedPromptTokens).toBe(0);
    const seeded = await ask({ ...prompt, maxTokens: 2, seed: 1 }, 'emil');
    expect(seeded.end.usage.cachedPromptTokens).toBe(0);
  });
});

describe('an embedding', () => {
  test.for([[[]], [['']], [['a', '']], [Array.from({ length: 2049 }, () => 'a')]])(
    'of bad texts is refused',
    async ([texts = []]) => {
      const answer = runtime.embed({ modelPath: embedder, texts });
      await expect(answer).rejects.toMatchObject({ code: 'invalid' });
    },
  );

  test('of a text beyond what the model reads is refused and names it', async () => {
    const texts = ['the', 'the '.repeat(3000)];
    await expect(runtime.embed({ modelPath: embedder, texts })).rejects.toMatchObject({
      code: 'invalid',
      reason: 'context_length_exceeded',
      detail: { index: 1, contextTokens: 2048 },
    });
  });

  test('is not made by a model that writes, nor text by a model that embeds', async () => {
    const vectors = runtime.embed({ modelPath: writer, texts: ['the'] });
    await expect(vectors).rejects.toMatchObject({ reason: 'unsupported_capability' });
    const text = runtime.generate({ modelPath: embedder, prompt: { text: 'the' } });
    const read = text[Symbol.asyncIterator]().next();
    await expect(read).rejects.toMatchObject({ reason: 'unsupported_capability' });
  });

  test('has length 1, the order of the texts, and nothing of its neighbours', async () => {
    const texts = ['the user', 'hot water', 'the user'];
    const batch = await runtime.embed({ modelPath: embedder, texts });
    expect(batch).toMatchObject({ dimensions: 64, isNormalised: true });
    expect(batch.tokens).toBeGreaterThan(6);
    for (const vector of batch.vectors) {
      expect(vector).toBeInstanceOf(Float32Array);
      expect(vector.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5);
    }
    expect(batch.vectors[2]).toEqual(batch.vectors[0]);
    expect(batch.vectors[1]).not.toEqual(batch.vectors[0]);
    const [alone] = (await runtime.embed({ modelPath: embedder, texts: ['hot water'] })).vectors;
    alone?.forEach((value, i) => expect(value).toBeCloseTo(batch.vectors[1]?.[i] ?? NaN, 5));
  });

  test('ends when its caller gives up', async () => {
    const controller = new AbortController();
    const texts = Array.from({ length: 2000 }, () => 'the water is hot '.repeat(40));
    const answer = runtime.embed({ modelPath: embedder, texts }, { signal: controller.signal });
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('a model', () => {
  test('is in memory ahead of its first request, until it is told to leave', async () => {
    await runtime.load({ modelPath: embedder, keepAliveMs: 60_000 });
    const loaded = runtime.loaded().find(({ path }) => path === embedder);
    expect(loaded?.memoryBytes).toBeGreaterThan(loaded?.sizeBytes ?? Infinity);
    expect(loaded?.expiresAt?.getTime()).toBeGreaterThan(Date.now());
    await runtime.unload(embedder);
    expect(runtime.loaded().some(({ path }) => path === embedder)).toBe(false);
    await runtime.unload(embedder);
  });

  test('that is asked to stay for no time leaves at once, and for all time has no end', async () => {
    await runtime.load({ modelPath: embedder, keepAliveMs: Infinity });
    const find = () => runtime.loaded().find(({ path }) => path === embedder);
    await runtime.load({ modelPath: embedder });
    expect(find()).toMatchObject({ expiresAt: undefined });
    await runtime.load({ modelPath: embedder, keepAliveMs: 0 });
    expect(find()).toBeUndefined();
  });

  test('leaves when its running request has ended, and is loaded anew for one that waits', async () => {
    const running = ask({ prompt: { text: 'one two three' }, maxTokens: 800 });
    await vi.waitUntil(() => runtime.loaded().some(({ path }) => path === writer));
    const gone = runtime.unload(writer).then(() => runtime.loaded().map(({ path }) => path));
    const waiting = ask({ maxTokens: 2 });
    expect((await running).end.usage.completionTokens).toBe(800);
    expect(await gone).not.toContain(writer);
    expect((await waiting).end.timings.loadMs).toBeGreaterThan(1);
  });

  test('whose file is garbled is invalid, whatever it breaks, and the others live on', async () => {
    const whole = await readFile(writer);
    const at = whole.indexOf('tokenizer.ggml.token_type') + 45;
    const garbled = [4, 16, 300, 900, at, at + 400, whole.indexOf('blk.1.ffn_up') + 20];
    for (const [i, offset] of garbled.entries()) {
      const path = join(folder, `garbled-${i}.gguf`);
      const bytes = Buffer.from(whole);
      bytes.fill(0xee, offset, offset + 3);
      await writeFile(path, bytes);
      const outcome = await runtime.load({ modelPath: path }).catch((error: unknown) => error);
      if (outcome !== undefined) expect(outcome).toMatchObject({ code: 'invalid' });
      await runtime.unload(path);
    }
    expect((await ask({ maxTokens: 2 })).end.usage.completionTokens).toBe(2);
  });
});
