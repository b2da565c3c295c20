import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  json,
  openAiChunk,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
});

// Settings that are put anew clear the circuits that an answer before has opened.
beforeEach(async () => {
  for (const dialect of ['openai', 'gemini', 'ollama']) {
    const models = [{ name: `${dialect}-m`, capabilities: ['chat', 'tools'] }];
    await gateway.put(dialect, { dialect, baseUrl: `${upstream.url}/v1`, models });
  }
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];

const geminiPiece = (text: string, finishReason?: string) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason }] })}\n\n`;

test.each([
  ['/v1/chat/completions', {}, ['gemini-m']],
  ['/v1/messages', { max_tokens: 9 }, ['gemini-m']],
  ['/v1/responses', { input: 'hi', messages: undefined }, ['gemini-m']],
])(
  'an answer that does not name its model has the asked one, by %s',
  async (path, fields, names) => {
    const asked = { model: 'gemini/gemini-m', messages, ...fields };
    upstream.script(stream([geminiPiece('first '), geminiPiece('second', 'STOP')]));
    const { text } = await gateway.call('POST', path, { ...asked, stream: true });
    const found = [...text.matchAll(/"model":"([^"]*)"/g)].map(([, name]) => name);
    expect([...new Set(found)]).toEqual(names);
    upstream.script(json(JSON.parse(geminiPiece('all', 'STOP').slice(6)) as object));
    expect((await gateway.call('POST', path, asked)).body).toMatchObject({ model: 'gemini-m' });
  },
);

test.each(['\u2028', '\u2029', '\u0085', '\f'])(
  'a piece of an answer keeps %j, which ends a line elsewhere and not in events',
  async (sign) => {
    const said = `a${sign}data: [DONE]`;
    const chunks = [openAiChunk({ content: said }), openAiChunk({}, 'stop'), 'data: [DONE]\n\n'];
    upstream.script(stream(chunks));
    const asked = { model: 'openai/openai-m', messages, max_tokens: 9, stream: true };
    const { text } = await gateway.call('POST', '/v1/messages', asked);
    expect(text).toContain(`"text":${JSON.stringify(said)}`);
    expect(text).toContain('"stop_reason":"end_turn"');
  },
);

test.each([
  [
    'openai/openai-m',
    [openAiChunk({ content: 'first ' }), openAiChunk({ content: 'second' }, 'stop')],
  ],
  ['gemini/gemini-m', [geminiPiece('first '), geminiPiece('second', 'STOP')]],
  [
    'ollama/ollama-m',
    ['first ', 'second'].map(
      (content, at) => `${JSON.stringify({ message: { content }, done: at === 1 })}\n`,
    ),
  ],
])('a byte-order mark in front of a stream of %s takes nothing away', async (model, pieces) => {
  upstream.script(stream(pieces.map((piece, at) => (at === 0 ? `\u{FEFF}${piece}` : piece))));
  const fields = { model, messages, max_tokens: 9, stream: true };
  const { text } = await gateway.call('POST', '/v1/messages', fields);
  const texts = [...text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece]) => piece);
  expect(texts.join('')).toBe('first second');
  expect(text).toContain('message_stop');
});

test.each([
  [404, { message: 'Item rs_1 not found', param: 'input', code: 'item_not_found' }],
  [422, { message: 'temperature is too high', param: 'temperature', code: 'out_of_range' }],
])('what a provider finds wrong with a request keeps its status %i', async (status, error) => {
  upstream.script(json({ error }, status));
  const asked = { model: 'openai/openai-m', messages };
  const answer = await gateway.call('POST', '/v1/chat/completions', asked);
  expect(answer.status).toBe(status);
  expect(answer.body.error).toEqual({ ...error, type: 'invalid_request_error' });
});

const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };

test.each([
  ['openai/openai-m', false, json({ choices: [imageChoice('message')] })],
  [
    'openai/openai-m',
    true,
    stream([`data: ${JSON.stringify({ choices: [imageChoice('delta')] })}\n\n`]),
  ],
  ['ollama/ollama-m', false, json({ message: { images: ['aGk='] }, done: true })],
])('pictures of %s are not left out in silence (stream: %s)', async (model, isStream, script) => {
  upstream.script(script);
  const fields = { model, messages, max_tokens: 9, stream: isStream };
  const [provider = ''] = model.split('/');
  const askedBefore = upstream.received.length;
  // More often than a circuit bears.
  for (let times = 0; times < 12; times += 1) {
    const answer = await gateway.call('POST', '/v1/messages', fields);
    expect(answer.status).toBe(502);
    expect(answer.body.error.message).toContain('images');
  }
  expect(upstream.received.length - askedBefore).toBe(12);
  const health = await gateway.call('GET', '/api/health');
  expect(health.body.providers[provider]).toMatchObject({ status: 'healthy' });
});

test('they pass through where nothing is translated, cached or not', async () => {
  const sent = JSON.stringify({ choices: [imageChoice('message')] });
  upstream.script(json(sent));
  const fields = { model: 'openai/openai-m', messages, temperature: 0 };
  for (let times = 0; times < 2; times += 1) {
    const answer = await gateway.call('POST', '/v1/chat/completions', fields);
    expect([answer.status, answer.text]).toEqual([200, sent]);
  }
});

function imageChoice(part: 'message' | 'delta') {
  return { index: 0, [part]: { content: 'Here', images: [picture] }, finish_reason: 'stop' };
}

const tools = [{ name: 'a', input_schema: { type: 'object' } }];
const single = { type: 'auto', disable_parallel_tool_use: true };

test.each([
  ['/v1/messages', 'tool_choice.disable_parallel_tool_use', { tools, tool_choice: single }],
  ['/v1/messages', 'stop_sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }],
  ['/v1/messages', 'thinking', { thinking: { type: 'disabled' } }],
  ['/v1/responses', 'reasoning.effort', { reasoning: { effort: 'none' }, input: 'hi' }],
  ['/v1/chat/completions', 'reasoning_effort', { reasoning_effort: 'none' }],
])('a refusal by %s names what the caller sent, %s', async (path, name, fields) => {
  const asked = path === '/v1/responses' ? {} : { messages, max_tokens: 9 };
  const model = 'gemini/gemini-m';
  const answer = await gateway.call('POST', path, { model, ...asked, ...fields });
  expect(answer.status).toBe(400);
  expect(answer.body.error.message).toBe(`${name} cannot be said to the provider gemini`);
});

test('a request that is too large for its provider is too large', async () => {
  upstream.script(json({ error: { message: 'too big', type: 'request_too_large' } }, 413));
  const asked = { model: 'openai/openai-m', messages };
  const answer = await gateway.call('POST', '/v1/chat/completions', asked);
  expect(answer.status).toBe(413);
  expect(answer.body.error).toMatchObject({ code: 'context_length_exceeded' });
});
