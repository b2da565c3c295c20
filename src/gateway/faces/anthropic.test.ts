import Anthropic, { BadRequestError, RateLimitError } from '@anthropic-ai/sdk';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { Answer, AnswerEvent } from '../conversation/answer.ts';
import { collectAnswer } from '../conversation/collect.ts';
import { anthropicDialect } from '../dialects/anthropic.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { geminiDialect } from '../dialects/gemini.ts';
import { failureOf, readAll } from '../dialects/testing.ts';
import { anthropicFace } from './anthropic.ts';
import { anthropicEnvelope } from './anthropic/envelope.ts';

/** What the server does with a request: the pieces of its answer, or what it throws. */
let answer: (body: Record<string, unknown>) => readonly AnswerEvent[];
/** Thrown behind the pieces of a stream. */
let breakOff: Fault | undefined;

const server = createServer((request, response) => void respond(request, response));
let client: Anthropic;

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
  try {
    const read = anthropicFace.read(body);
    const events = answer(body);
    if (!read.isStream) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(anthropicFace.writeAnswer(collectAnswer(events), read)));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const stream = anthropicFace.openStream(read);
    for (const event of events) response.write(stream.write(event));
    response.end(breakOff ? anthropicFace.writeFailure(breakOff) : undefined);
  } catch (error) {
    const fault = Fault.from(error);
    const context = { requestId: 'req_1', timestamp: '', path: '/v1/messages' };
    response.writeHead(fault.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(anthropicEnvelope.wrap(fault, context)));
  }
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = new Anthropic({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  breakOff = undefined;
});

const question: Anthropic.MessageParam = { role: 'user', content: 'The weather in Oslo?' };
const ask = { model: 'claude-x', max_tokens: 100, messages: [question] };

const events: AnswerEvent[] = [
  { type: 'start', id: 'msg_1', model: 'claude-x', createdAt: 1 },
  { type: 'reasoning', choice: 0, text: 'Rain' },
  { type: 'reasoning', choice: 0, text: '?' },
  { type: 'reasoning', choice: 0, text: '', signature: 'c2ln' },
  { type: 'reasoning', choice: 0, text: '', redacted: 'b3BhcXVl' },
  { type: 'text', choice: 0, text: 'Let me ' },
  { type: 'text', choice: 0, text: '' },
  { type: 'text', choice: 0, text: 'see – “ø”.' },
  { type: 'tool-call', choice: 0, call: 0, id: 't1', name: 'weather', arguments: '' },
  { type: 'tool-call', choice: 0, call: 0, arguments: '{"place":' },
  { type: 'tool-call', choice: 0, call: 0, arguments: '"Oslo"}' },
  { type: 'tool-call', choice: 0, call: 1, id: 't2', name: 'now', arguments: '' },
  { type: 'finish', choice: 0, finish: 'tool-calls' },
  {
    type: 'usage',
    usage: {
      inputTokens: 240,
      outputTokens: 9,
      cachedInputTokens: 200,
      cacheWriteTokens: 30,
      longCacheWriteTokens: 10,
    },
  },
  { type: 'end' },
];

const content = [
  { type: 'thinking', thinking: 'Rain?', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'b3BhcXVl' },
  { type: 'text', text: 'Let me see – “ø”.' },
  { type: 'tool_use', id: 't1', name: 'weather', input: { place: 'Oslo' } },
  { type: 'tool_use', id: 't2', name: 'now', input: {} },
];
const counted = {
  input_tokens: 10,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 200,
  output_tokens: 9,
};

/** All events that the face writes, as `[event, data]`. */
function written(pieces: readonly AnswerEvent[]): (readonly [string, Record<string, unknown>])[] {
  const stream = anthropicFace.openStream(anthropicFace.read({ ...ask, stream: true }));
  const text = pieces.map((piece) => stream.write(piece)).join('');
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return [event, JSON.parse(data) as Record<string, unknown>] as const;
    });
}

describe('the official client', () => {
  test('gets refusals as errors of its own', async () => {
    answer = () => events;
    const bad = { ...ask, temperature: 3 };
    const error = await client.messages.create(bad).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect((error as Error).message).toContain('temperature: must be a number from 0 to 1');
    answer = () => {
      throw new Fault('exhausted', 'Slow down.');
    };
    await expect(client.messages.create(ask)).rejects.toBeInstanceOf(RateLimitError);
  });

  test('sees that a stream broke off', async () => {
    answer = () => events.slice(0, 6);
    breakOff = new Fault('upstream', 'The answer broke off.');
    const stream = client.messages.stream(ask);
    await expect(stream.finalMessage()).rejects.toThrow('The answer broke off.');
  });

  test('reads a whole answer', async () => {
    answer = () => events;
    const message = await client.messages.create(ask);
    expect(message).toMatchObject({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        ...counted,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      },
    });
    expect(message.content).toHaveLength(content.length);
  });

  test('reads a streamed answer, the same in pieces', async () => {
    answer = () => events;
    const texts: string[] = [];
    const stream = client.messages.stream(ask).on('text', (text) => texts.push(text));
    const message = await stream.finalMessage();
    expect(message).toMatchObject({
      id: 'msg_1',
      content,
      stop_reason: 'tool_use',
      usage: counted,
    });
    expect(message.content).toHaveLength(content.length);
    expect(texts).toEqual(['Let me ', 'see – “ø”.']);
  });
});

describe("a stream in Anthropic's words", () => {
  test('has one start, blocks one after the other, and one end', () => {
    const again: AnswerEvent = { type: 'start', id: 'other', model: 'other', createdAt: 2 };
    const names = written([...events.slice(0, 7), again, ...events.slice(7), { type: 'end' }]).map(
      ([name, data]) => {
        expect(data.type).toBe(name);
        return typeof data.index === 'number' ? `${name} ${data.index}` : name;
      },
    );
    const block = (index: number, deltas: number) => [
      `content_block_start ${index}`,
      ...Array.from({ length: deltas }, () => `content_block_delta ${index}`),
      `content_block_stop ${index}`,
    ];
    expect(names).toEqual([
      'message_start',
      ...block(0, 3),
      ...block(1, 0),
      ...block(2, 2),
      ...block(3, 2),
      ...block(4, 0),
      'message_delta',
      'message_stop',
    ]);
  });

  test('counts the prompt at its start where it is known, and all at its end', () => {
    const start = { ...events[0], usage: { inputTokens: 7, outputTokens: 0 } } as AnswerEvent;
    const [first] = written([start, ...events.slice(1)]);
    expect(first?.[1]).toMatchObject({ message: { usage: { input_tokens: 7 } } });
    const unknown = written(events);
    expect(unknown[0]?.[1]).toMatchObject({ message: { usage: { input_tokens: 0 } } });
    expect(unknown.at(-2)?.[1]).toMatchObject({ usage: counted });
  });

  test('is not ended where the answer was cut off', () => {
    const names = written(events.slice(0, -1)).map(([name]) => name);
    expect(names).not.toContain('message_delta');
    expect(names).not.toContain('message_stop');
  });

  test('fails where pieces of calls come out of order', () => {
    const late: AnswerEvent = { type: 'tool-call', choice: 0, call: 0, arguments: '{}' };
    expect(failureOf(() => written([...events.slice(0, 12), late])).kind).toBe('broken');
  });

  test('never looks complete without a reason why it ended', () => {
    expect(failureOf(() => written([...events.slice(0, 8), { type: 'end' }])).kind).toBe(
      'truncated',
    );
  });

  test.each([
    ['stop', undefined, 'end_turn'],
    ['stop', 'END', 'stop_sequence'],
    ['length', undefined, 'max_tokens'],
    ['tool-calls', undefined, 'tool_use'],
    ['content-filter', undefined, 'refusal'],
  ] as const)('that ends by %s (%s) ends by %s', (finish, stopSequence, reason) => {
    const end: AnswerEvent = { type: 'finish', choice: 0, finish, stopSequence };
    const delta = { stop_reason: reason, stop_sequence: stopSequence ?? null };
    expect(written([end, { type: 'end' }]).at(-2)?.[1]).toMatchObject({ delta });
    const choices = [{ index: 0, parts: [], finish, stopSequence }];
    const whole = { id: '', model: '', createdAt: 0, choices, usage: counted } as unknown as Answer;
    expect(anthropicFace.writeAnswer(whole, anthropicFace.read(ask))).toMatchObject(delta);
  });
});

test('a call whose arguments are no JSON object is no answer', () => {
  const part = { type: 'tool-call' as const, id: 'a', name: 'b', arguments: '{"a' };
  const choices = [{ index: 0, parts: [part], finish: 'tool-calls' as const }];
  const usage = { inputTokens: 1, outputTokens: 1 };
  const whole: Answer = { id: '', model: '', createdAt: 0, choices, usage };
  const write = () => anthropicFace.writeAnswer(whole, anthropicFace.read(ask));
  expect(failureOf(write).kind).toBe('broken');
});

describe('thoughts and calls come back to who made them', () => {
  const tools: Anthropic.Tool[] = [
    { name: 'zeta', input_schema: { type: 'object' } },
    { name: 'alpha', input_schema: { type: 'object' } },
  ];

  /** Two turns with the official client: a call, then its result. Gives both upstream bodies. */
  async function converse(dialect: Dialect, upstream: readonly unknown[], isStream: boolean) {
    const bodies: Readonly<Record<string, unknown>>[] = [];
    const requests: ReturnType<typeof anthropicFace.read>[] = [];
    answer = (body) => {
      const request = anthropicFace.read(body);
      requests.push(request);
      bodies.push(dialect.writeChat(request, 'gemini-3-pro').body);
      return readAll(dialect.openReader(), upstream);
    };
    const say = (messages: Anthropic.MessageParam[]) => {
      const params = { ...ask, messages, tools, thinking: { type: 'adaptive' as const } };
      return isStream
        ? client.messages.stream(params).finalMessage()
        : client.messages.create(params);
    };
    const first = await say([question]);
    const results = first.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'done' }]
        : [],
    );
    await say([
      question,
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ]);
    return { bodies, requests };
  }

  const head = { responseId: 'r', modelVersion: 'gemini-3-pro' };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1 };
  const call = (id: string, name: string) => ({ functionCall: { id, name, args: { a: 1 } } });
  const parts = [
    { text: 'Rain?', thought: true },
    { ...call('c1', 'zeta'), thoughtSignature: 'c2ln' },
    call('c2', 'alpha'),
  ];
  const geminiStream = [
    { ...head, candidates: [{ content: { parts: parts.slice(0, 2) } }] },
    {
      ...head,
      candidates: [{ content: { parts: parts.slice(2) }, finishReason: 'STOP' }],
      usageMetadata,
    },
  ];

  test.each([true, false])('with Gemini upstream (streamed: %s)', async (isStream) => {
    const { bodies, requests } = await converse(geminiDialect, geminiStream, isStream);
    expect(bodies[0]).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'zeta' }, { name: 'alpha' }] }],
    });
    expect(bodies[1]?.contents).toEqual([
      { role: 'user', parts: [{ text: question.content }] },
      { role: 'model', parts },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'zeta', response: { output: 'done' } } },
          { functionResponse: { id: 'c2', name: 'alpha', response: { output: 'done' } } },
        ],
      },
    ]);
    // Anthropic would refuse a signature of Google's.
    expect(requests[1]?.needsTranslation).toBe(true);
    const elsewhere = anthropicDialect.writeChat(requests[1]!, 'claude-opus-5').body;
    expect(JSON.stringify(elsewhere)).not.toContain('c2ln');
    expect(elsewhere).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [{ id: 'c1' }, { id: 'c2' }] },
        { role: 'user', content: [{ tool_use_id: 'c1' }, { tool_use_id: 'c2' }] },
      ],
    });
  });

  const block = (index: number, value: object, ...deltas: object[]) => [
    { type: 'content_block_start', index, content_block: value },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const anthropicStream = [
    { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 3 } } },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Rain?' },
      { type: 'signature_delta', signature: 'c2ln' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }),
    ...block(
      2,
      { type: 'tool_use', id: 't1', name: 'zeta', input: {} },
      { type: 'input_json_delta', partial_json: '{"a":1}' },
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];

  test.each([true, false])('with Anthropic upstream (streamed: %s)', async (isStream) => {
    const { bodies, requests } = await converse(anthropicDialect, anthropicStream, isStream);
    expect(bodies[0]).toMatchObject({ tools: [{ name: 'zeta' }, { name: 'alpha' }] });
    expect(bodies[1]?.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: question.content }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Rain?', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'b3BhcXVl' },
          { type: 'tool_use', id: 't1', name: 'zeta', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            content: [{ type: 'text', text: 'done' }],
          },
        ],
      },
    ]);
    expect(requests[1]?.needsTranslation).toBeUndefined();
    const { contents } = geminiDialect.writeChat(requests[1]!, 'gemini-3-pro').body;
    expect(JSON.stringify(contents)).not.toContain('c2ln');
  });
});
