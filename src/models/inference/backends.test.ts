import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Secret } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import { startDialects } from '../dialects-testing.ts';
import { Backends } from './backends.ts';
import { openRuntimes, type ExternalRuntimes } from './external/open-runtimes.ts';
import type { Caller, ModelInfo } from './inference.ts';
import type { GenerateEvent, GenerateRequest } from './request.ts';
import { describeModel, ScriptedInference, scriptedEnd } from './testing.ts';

const local = new ScriptedInference([
  describeModel('shared', { runtime: 'local' }),
  describeModel('mine', { runtime: 'local' }),
]);
const remote = new ScriptedInference([
  describeModel('shared'),
  describeModel('far:1b', { capabilities: ['completion', 'json', 'tools'] }),
  describeModel('vectors', { capabilities: ['embedding'], embeddingDimensions: 3 }),
]);
const caller: Caller = { subject: 'usr_test', signal: new AbortController().signal };
const kinds = ['ollama', 'openai', 'llama-server'] as const;
type Kind = (typeof kinds)[number];

let peer: Awaited<ReturnType<typeof startDialects>>;
beforeAll(async () => {
  peer = await startDialects(remote);
});
afterAll(() => peer[Symbol.asyncDispose]());
beforeEach(() => {
  for (const one of [local, remote]) {
    one.events = [scriptedEnd];
    one.isEndless = false;
    one.requests.length = 0;
    one.memory.length = 0;
    one.abandoned = 0;
  }
});

function open(kind: Kind, url: string, token: string): ExternalRuntimes {
  const apiKey = new Secret(token);
  if (kind === 'ollama') return openRuntimes({ ollamaUrl: `${url}/`, ollamaApiKey: apiKey });
  if (kind === 'openai') return openRuntimes({ openAiUrl: `${url}/v1`, openAiApiKey: apiKey });
  return openRuntimes({ llamaServerUrl: url, llamaServerApiKey: apiKey });
}

function join(kind: Kind, { url = peer.url, token = peer.token, defaultName = '' } = {}) {
  const external = open(kind, url, token);
  const options = { local, externals: external.runtimes, log: silentLog };
  const backends = new Backends(defaultName === '' ? options : { ...options, defaultName });
  return { backends, [Symbol.asyncDispose]: () => external[Symbol.asyncDispose]() };
}

async function collect(
  backends: Backends,
  request: GenerateRequest,
  name = 'far:1b',
): Promise<GenerateEvent[]> {
  const events: GenerateEvent[] = [];
  const model = await backends.find(name);
  for await (const event of backends.generate(model, request, caller)) events.push(event);
  return events;
}

const hello: GenerateRequest = { prompt: { messages: [{ role: 'user', content: 'hello' }] } };
const weather = {
  name: 'weather',
  description: 'tells the weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

describe.each(kinds)('a runtime that speaks as %s', (kind) => {
  test('that refuses our key is no failure of our caller', async () => {
    await using ground = join(kind, { token: 'wrong' });
    expect((await ground.backends.list()).map(({ name }) => name)).toEqual(['shared', 'mine']);
  });

  test('passes a refusal on', async () => {
    await using ground = join(kind);
    remote.events = [new Fault('invalid', 'the prompt is too long')];
    await expect(collect(ground.backends, hello)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('the prompt is too long'),
    });
    remote.events = [new Fault('exhausted', 'too many requests')];
    await expect(collect(ground.backends, hello)).rejects.toMatchObject({ code: 'exhausted' });
  });

  test('that fails in the middle of a stream does not end it as if complete', async () => {
    await using ground = join(kind);
    remote.events = [{ type: 'text', text: 'half' }, new Fault('unavailable', 'it crashed')];
    await expect(collect(ground.backends, hello)).rejects.toMatchObject({
      code: 'upstream',
      message: expect.stringContaining('it crashed'),
    });
  });

  test('is told when the caller gives up', async () => {
    await using ground = join(kind);
    remote.events = [{ type: 'text', text: 'on and on' }];
    remote.isEndless = true;
    const stop = new AbortController();
    const model = await ground.backends.find('far:1b');
    const asked = ground.backends.generate(model, hello, { ...caller, signal: stop.signal });
    const read = async () => {
      for await (const event of asked) if (event.type === 'text') stop.abort();
    };
    await expect(read()).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => remote.abandoned).toBe(1);
  });

  test('answers a chat with all options', async () => {
    await using ground = join(kind);
    remote.events = [{ type: 'text', text: 'hel' }, { type: 'text', text: 'lo' }, scriptedEnd];
    const options = {
      maxTokens: 9,
      temperature: 0.5,
      topP: 0.25,
      topK: 7,
      minP: 0.125,
      repeatPenalty: 1.5,
      frequencyPenalty: 0.75,
      presencePenalty: -0.5,
      seed: 42,
      stop: ['END'],
    };
    const events = await collect(ground.backends, { ...hello, ...options });
    const texts = events.map((event) => (event.type === 'text' ? event.text : ''));
    expect(texts.join('')).toBe('hello');
    expect(events.at(-1)).toMatchObject({
      type: 'end',
      finishReason: 'stop',
      usage: { promptTokens: 11, completionTokens: 7 },
    });
    expect(remote.requests).toMatchObject([{ ...hello, ...options }]);
  });

  test('continues a text', async () => {
    await using ground = join(kind);
    remote.events = [{ type: 'text', text: ' upon a time' }, scriptedEnd];
    await collect(ground.backends, { prompt: { text: 'Once' } });
    expect(remote.requests).toMatchObject([{ prompt: { text: 'Once' } }]);
  });

  test('is bound to a schema', async () => {
    await using ground = join(kind);
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    await collect(ground.backends, { ...hello, format: { type: 'json', schema } });
    await collect(ground.backends, { ...hello, format: { type: 'json' } });
    expect(remote.requests.map(({ format }) => format)).toEqual([
      { type: 'json', schema },
      { type: 'json' },
    ]);
  });

  test('calls tools and hears what they answered', async () => {
    await using ground = join(kind);
    const call = { id: 'call_1', name: 'weather', arguments: { city: 'Rome', days: [1, 2] } };
    remote.events = [
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', call },
      { ...scriptedEnd, finishReason: 'tool-calls' },
    ];
    const messages = [
      { role: 'user', content: 'and Oslo?' },
      { role: 'assistant', content: '', toolCalls: [{ ...call, id: 'call_0' }] },
      { role: 'tool', content: 'rain', callId: 'call_0' },
    ] as const;
    const events = await collect(ground.backends, { prompt: { messages }, tools: [weather] });
    expect(events.map((event) => event.type)).toEqual(['text', 'tool-call', 'end']);
    expect(events[1]).toEqual({ type: 'tool-call', call });
    expect(events[2]).toMatchObject({ finishReason: 'tool-calls' });
    expect(remote.requests).toMatchObject([{ prompt: { messages }, tools: [weather] }]);
  });

  test('that cannot be made to call says so, else it is made to', async () => {
    await using ground = join(kind);
    const asked = collect(ground.backends, { ...hello, tools: [weather], toolChoice: 'required' });
    if (kind === 'ollama') {
      await expect(asked).rejects.toMatchObject({ reason: 'unsupported_parameter' });
    } else {
      await asked;
      expect(remote.requests).toMatchObject([{ toolChoice: 'required' }]);
    }
  });

  test('that cannot be bound to the schema of a tool says so, else it is bound', async () => {
    await using ground = join(kind);
    const tools = [{ ...weather, isStrict: true }];
    const asked = collect(ground.backends, { ...hello, tools });
    if (kind === 'ollama') {
      await expect(asked).rejects.toMatchObject({
        reason: 'unsupported_parameter',
        detail: { param: 'tools.0.function.strict' },
      });
    } else {
      await asked;
      expect(remote.requests).toMatchObject([{ tools }]);
    }
  });

  test('makes embeddings', async () => {
    await using ground = join(kind);
    const model = await ground.backends.find('vectors');
    const embedded = await ground.backends.embed(model, ['one', 'two'], caller);
    expect(embedded.vectors).toHaveLength(2);
    expect(embedded.vectors.every((vector) => vector.length === embedded.dimensions)).toBe(true);
  });

  test('lists its models beside ours, with its name before those that we have too', async () => {
    await using ground = join(kind);
    const models = await ground.backends.list();
    expect(models.map(({ name, runtime }) => [name, runtime])).toEqual([
      ['shared', 'local'],
      ['mine', 'local'],
      [`${kind}/shared`, kind],
      ['far:1b', kind],
      ['vectors', kind],
    ]);
    expect(models.find(({ name }) => name === 'vectors')?.capabilities).toEqual(['embedding']);
    expect(await ground.backends.find(`${kind}/far:1b`)).toMatchObject({ name: 'far:1b' });
    await collect(ground.backends, hello, `${kind}/shared`);
    await collect(ground.backends, hello, 'shared');
    expect([remote.requests.length, local.requests.length]).toEqual([1, 1]);
  });
});

test('an Ollama loads and unloads as it is told', async () => {
  await using ground = join('ollama');
  const model = await ground.backends.find('far:1b');
  await ground.backends.load(model, caller, 60_000);
  await ground.backends.unload(model);
  expect(remote.memory).toEqual(['load far:1b 60000', 'unload far:1b']);
});

test('what an Ollama tells of a model is told on', async () => {
  await using ground = join('ollama');
  const far: ModelInfo = await ground.backends.find('far:1b');
  expect(far).toMatchObject({
    bytes: 1_234_567,
    digest: 'ab'.repeat(32),
    family: 'llama',
    quantization: 'Q8_0',
    capabilities: ['completion', 'tools', 'json'],
  });
});

test('the default may be a model of an external runtime', async () => {
  await using ground = join('ollama', { defaultName: 'FAR:1b' });
  expect(await ground.backends.find(undefined)).toMatchObject({ name: 'far:1b' });
  expect((await ground.backends.list())[0]).toMatchObject({ name: 'far:1b' });
});

test('a default that is not there is nobody’s fault who names none', async () => {
  await using ground = join('ollama', { defaultName: 'gone' });
  await expect(ground.backends.find(undefined)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the default model gone is not there',
  });
  expect(await ground.backends.defaultName()).toBe('gone');
  expect(await ground.backends.list()).not.toEqual([]);
  await expect(ground.backends.find('gone')).rejects.toMatchObject({ code: 'not_found' });
});

describe('a runtime that makes no sense', () => {
  let server: Server;
  let url: string;
  let answers: Readonly<Record<string, string>>;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const answer = answers[request.url ?? ''];
      if (answer === undefined) response.writeHead(404).end();
      else response.end(answer);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A listening TCP server has an address object.
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const tags = JSON.stringify({
    models: [{ name: 'odd:latest', size: 1, modified_at: '2026-01-01T00:00:00Z' }],
  });
  const cards = JSON.stringify({ data: [{ id: '/models/odd.gguf' }] });

  test.each([
    ['ollama', '/api/chat', 'no json\n'],
    ['ollama', '/api/chat', '{"message":{"content":"half"},"done":false}\n'],
    ['ollama', '/api/chat', '{"error":"it broke"}\n'],
    ['openai', '/v1/chat/completions', 'data: no json\n\n'],
    ['openai', '/v1/chat/completions', 'data: {"choices":[{"delta":{"content":"half"}}]}\n\n'],
    ['openai', '/v1/chat/completions', 'data: {"error":{"message":"it broke"}}\n\n'],
    [
      'openai',
      '/v1/chat/completions',
      'data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"[1]"}}]},' +
        '"finish_reason":"tool_calls"}]}\n\n',
    ],
  ] as const)('as %s is an error: %s %s', async (kind, path, answer) => {
    answers = { '/api/tags': tags, '/v1/models': cards, [path]: answer };
    await using ground = join(kind, { url });
    await expect(collect(ground.backends, hello, 'odd')).rejects.toMatchObject({
      code: 'upstream',
    });
  });

  test('has no models', async () => {
    answers = { '/api/tags': '{"models": 7}' };
    await using ground = join('ollama', { url });
    expect((await ground.backends.list()).map(({ name }) => name)).toEqual(['shared', 'mine']);
    await expect(ground.backends.find('odd')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('that has gone silent makes the models that it had unavailable until it is back', async () => {
    await using external = open('ollama', url, 'token');
    const options = { local, externals: external.runtimes, log: silentLog, freshMs: 0 };
    const backends = new Backends(options);
    answers = { '/api/tags': tags };
    const odd = await backends.find('odd');
    answers = {};
    await expect.poll(async () => (await backends.list()).length).toBe(2);
    for (const name of ['odd', 'ollama/odd']) {
      await expect(backends.find(name)).rejects.toMatchObject({ code: 'unavailable' });
    }
    await expect(backends.embed(odd, ['text'], caller)).rejects.toMatchObject({
      code: 'unavailable',
    });
    answers = { '/api/tags': tags };
    await expect.poll(async () => (await backends.list()).length).toBe(3);
    expect(await backends.find('odd')).toMatchObject({ name: 'odd' });
  });

  test('that has a new model is asked anew for a name that nobody knows', async () => {
    await using external = open('ollama', url, 'token');
    const options = { local, externals: external.runtimes, log: silentLog, freshMs: 0 };
    const backends = new Backends(options);
    answers = { '/api/tags': '{"models": []}' };
    await backends.list();
    answers = { '/api/tags': tags };
    expect(await backends.find('odd')).toMatchObject({ name: 'odd', runtime: 'ollama' });
  });

  test('is found by the file that it names a model by', async () => {
    answers = { '/v1/models': cards };
    await using ground = join('openai', { url });
    for (const name of ['odd', 'odd.gguf', '/models/odd.gguf']) {
      expect(await ground.backends.find(name)).toMatchObject({ name: 'odd' });
    }
  });

  test('has models from us, which are not offered again and again', async () => {
    const names = ['mine', 'ollama/mine', 'ollama/ollama/mine', 'ollama/theirs'];
    const modified = { size: 1, modified_at: '2026-01-01T00:00:00Z' };
    const models = names.map((name) => ({ name, ...modified }));
    answers = { '/api/tags': JSON.stringify({ models }) };
    await using ground = join('ollama', { url });
    const listed = (await ground.backends.list()).map(({ name }) => name);
    expect(listed).toEqual(['shared', 'mine', 'ollama/mine', 'ollama/theirs']);
  });

  test('that nobody hears at all costs the others nothing', async () => {
    await using ground = join('openai', { url: 'http://127.0.0.1:9' });
    expect(await ground.backends.find(undefined)).toMatchObject({ name: 'shared' });
    expect(await collect(ground.backends, hello, 'mine')).toEqual([scriptedEnd]);
  });
});
