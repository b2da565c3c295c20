import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../kit/config.ts';
import { Fault } from '../../../kit/errors.ts';
import type { GenerateEvent } from '../request.ts';
import { describeModel } from '../testing.ts';
import { openRuntimes } from './open-runtimes.ts';

interface Scripted {
  readonly status: number;
  readonly body: string;
  readonly retryAfter?: number;
}

const key = 'secret/key+1';
const model = describeModel('far:1b');
const caller = { subject: 'usr_test', signal: new AbortController().signal };
const prompt = { messages: [{ role: 'user', content: 'hello' }] } as const;
const kinds = ['ollama', 'openai', 'llama-server'] as const;
type Kind = (typeof kinds)[number];

let server: Server;
let url: string;
let scripted: Scripted;
beforeAll(async () => {
  server = createServer((_, response) => {
    const { status, body, retryAfter } = scripted;
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.writeHead(status).end(body);
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

/** All events of that answer. */
async function ask(kind: Kind, answer: Scripted): Promise<GenerateEvent[]> {
  scripted = answer;
  const apiKey = new Secret(key);
  await using external = openRuntimes(
    {
      ollama: { ollamaUrl: url, ollamaApiKey: apiKey },
      openai: { openAiUrl: `${url}/v1`, openAiApiKey: apiKey },
      'llama-server': { llamaServerUrl: url, llamaServerApiKey: apiKey },
    }[kind],
  );
  const events: GenerateEvent[] = [];
  for (const runtime of external.runtimes) {
    for await (const event of runtime.generate(model, { prompt }, caller)) events.push(event);
  }
  return events;
}

/** What a caller is told of a refusal. */
async function told(kind: Kind, answer: Scripted): Promise<Fault> {
  const outcome = await ask(kind, answer).catch((error: unknown) => error);
  if (outcome instanceof Fault) return outcome;
  throw new Error('it was no refusal');
}

const said = (message: string, rest: object = {}) =>
  JSON.stringify({ error: { message, ...rest } });

test.each(kinds)('%s does not show our key in what it says', async (kind) => {
  for (const status of [401, 403]) {
    const body = said(`Invalid API key: Bearer ${key}`);
    expect(await told(kind, { status, body })).toMatchObject({
      code: 'upstream',
      message: `${kind} asks for a key that it accepts`,
    });
  }
  for (const status of [400, 429, 500]) {
    const quoted = `${'x '.repeat(240)}${key} and ${encodeURIComponent(key)}`;
    const { message } = await told(kind, { status, body: said(quoted) });
    expect(message).toContain('[hidden]');
    expect(message).not.toMatch(/secret/);
  }
});

test.each([
  ['ollama', JSON.stringify({ error: `${key} has no credit` })],
  ['openai', `data: ${said(`${key} has no credit`)}\n\n`],
] as const)('%s does not show it in a stream either', async (kind, body) => {
  const { message } = await told(kind, { status: 200, body });
  expect(message).toBe(`${kind}: [hidden] has no credit`);
});

test.each([
  ['openai', { code: 'context_length_exceeded' }],
  ['llama-server', { code: 400, type: 'exceed_context_size_error' }],
] as const)('%s says that a prompt is too long as our models do', async (kind, rest) => {
  expect(await told(kind, { status: 400, body: said('too long', rest) })).toMatchObject({
    code: 'invalid',
    reason: 'context_length_exceeded',
  });
});

test('how long to wait is told on', async () => {
  const body = said('busy');
  for (const status of [429, 503]) {
    expect(await told('openai', { status, body, retryAfter: 7 })).toMatchObject({ retryAfter: 7 });
    expect((await told('openai', { status, body })).retryAfter).toBeGreaterThan(0);
  }
});

test('an Ollama measures by its own clock', async () => {
  const durations = { total_duration: 5e9, load_duration: 1e9, eval_duration: 3e9 };
  const body = JSON.stringify({ message: { content: 'hi' }, done: true, ...durations });
  expect((await ask('ollama', { status: 200, body })).at(-1)).toMatchObject({
    timings: { totalMs: 5000, loadMs: 1000, generateMs: 3000 },
  });
});

test('a llama-server that sends no usage is asked for its own counts', async () => {
  const choices = [{ delta: { content: 'hi' }, finish_reason: 'stop' }];
  const timings = { prompt_ms: 1, predicted_ms: 2, prompt_n: 4, predicted_n: 7, cache_n: 11 };
  const body = `data: ${JSON.stringify({ choices, timings })}\n\ndata: [DONE]\n\n`;
  expect((await ask('llama-server', { status: 200, body })).at(-1)).toMatchObject({
    usage: { promptTokens: 15, completionTokens: 7, cachedPromptTokens: 11 },
  });
});

const chunks = (...choices: readonly object[]) =>
  choices.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`).join('');

test.each([
  ['ollama', `${JSON.stringify({ message: { content: '', thinking: 'hm' }, done: false })}\n`],
  ['ollama', `${JSON.stringify({ response: '', thinking: 'hm', done: false })}\n`],
  ['llama-server', chunks({ delta: { content: null, reasoning_content: 'hm' } })],
  ['openai', chunks({ delta: { reasoning: 'hm' } })],
] as const)('what a model of %s thought is kept apart (%j)', async (kind, first) => {
  const last =
    kind === 'ollama'
      ? JSON.stringify({ message: { content: 'hi' }, done: true })
      : chunks({ delta: { content: 'hi' }, finish_reason: 'stop' });
  const events = await ask(kind, { status: 200, body: first + last });
  expect(events.slice(0, 2)).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'hi' },
  ]);
});

test('what an OpenAI server refuses is a text', async () => {
  const body = chunks({ delta: { content: null, refusal: 'No.' }, finish_reason: 'stop' });
  const events = await ask('openai', { status: 200, body });
  expect(events[0]).toEqual({ type: 'text', text: 'No.' });
});
