import { describe, expect, test } from 'vitest';
import { collectAnswer } from '../../conversation/collect.ts';
import { anthropicDialect } from '../anthropic.ts';
import { failureOf, framed, readAll } from '../testing.ts';

const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 200,
  cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
  output_tokens: 1,
  service_tier: 'standard',
};

const message = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [
    { type: 'thinking', thinking: 'Rain?', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'b3BhcXVl' },
    { type: 'text', text: 'Let me see.' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { place: 'Oslo' } },
    { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { ...usage, output_tokens: 95 },
};

const start = {
  type: 'message_start',
  message: { ...message, content: [], stop_reason: null, usage },
};
const open = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const grow = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const close = (index: number) => ({ type: 'content_block_stop', index });
const json = (index: number, text: string) =>
  grow(index, { type: 'input_json_delta', partial_json: text });

const stream = [
  start,
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  grow(0, { type: 'thinking_delta', thinking: 'Rain' }),
  grow(0, { type: 'thinking_delta', thinking: '?' }),
  grow(0, { type: 'signature_delta', signature: 'c2ln' }),
  close(0),
  open(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }),
  close(1),
  open(2, { type: 'text', text: '' }),
  grow(2, { type: 'text_delta', text: 'Let me ' }),
  grow(2, { type: 'text_delta', text: 'see.' }),
  close(2),
  open(3, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
  json(3, ''),
  json(3, '{"place":'),
  json(3, '"Oslo"}'),
  close(3),
  open(4, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
  json(4, ''),
  close(4),
  { type: 'something_new' },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { input_tokens: null, output_tokens: 95 },
  },
  { type: 'message_stop' },
];

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

const answered = {
  id: 'msg_01',
  model: 'claude-sonnet-4-5-20250929',
  createdAt: expect.any(Number) as number,
  choices: [
    {
      index: 0,
      parts: [
        { type: 'reasoning', text: 'Rain?', signature: 'c2ln' },
        { type: 'reasoning', text: '', redacted: 'b3BhcXVl' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool-call', id: 'toolu_1', name: 'weather', arguments: '{"place":"Oslo"}' },
        { type: 'tool-call', id: 'toolu_2', name: 'now', arguments: '{}' },
      ],
      finish: 'tool-calls',
    },
  ],
  usage: {
    inputTokens: 240,
    outputTokens: 95,
    cachedInputTokens: 200,
    cacheWriteTokens: 30,
    longCacheWriteTokens: 10,
  },
};

const { readAnswer, readUsage, openReader, openWatch } = anthropicDialect;

describe('an answer of Anthropic', () => {
  test.each([
    ['no object', 'broken', 'hello'],
    ['an object of another kind', 'broken', { choices: [] }],
    ['an error', 'broken', overloaded],
    ['a message without its end', 'truncated', { ...message, stop_reason: null }],
    ['a call without an id', 'broken', { ...message, content: [{ type: 'tool_use', name: 'a' }] }],
  ])('that is %s is %s', (_what, kind, body) => {
    expect(failureOf(() => readAnswer(body)).kind).toBe(kind);
  });

  test('that passes through is cut off without its end as well', () => {
    const cut = { ...message, stop_reason: null };
    expect(failureOf(() => readUsage(cut)).kind).toBe('truncated');
    expect(readUsage({ ...message, stop_reason: 'moon_phase' })).toEqual(answered.usage);
  });

  test('keeps every part in its order, and counts what the cache read and wrote', () => {
    expect(readAnswer(message)).toEqual(answered);
    expect(readUsage(message)).toEqual(answered.usage);
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'length'],
    ['refusal', 'content-filter'],
    ['moon_phase', 'length'],
  ])('that ended by %s ended by %s', (reason, finish) => {
    expect(readAnswer({ ...message, stop_reason: reason }).choices[0]?.finish).toBe(finish);
  });

  test('counts thoughts, and names the stop sequence that ended it', () => {
    const stopped = readAnswer({
      ...message,
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
      usage: { ...usage, output_tokens_details: { thinking_tokens: 7 } },
    });
    expect(stopped.choices[0]?.stopSequence).toBe('END');
    expect(stopped.usage.reasoningTokens).toBe(7);
  });
});

describe('a stream of Anthropic', () => {
  test.each([
    ['an error inside', 'broken', [start, overloaded]],
    ['no JSON inside', 'broken', [start, '{"type":']],
    ['a stop without a reason', 'truncated', [start, { type: 'message_stop' }]],
  ])('with %s is %s', (_what, kind, events) => {
    const failure = failureOf(() => readAll(openReader(), events));
    expect(failure.kind).toBe(kind);
  });

  test('says the same as the whole answer', () => {
    expect(collectAnswer(readAll(openReader(), stream))).toEqual(answered);
  });

  test('counts the prompt at its start, and ends with its own last word', () => {
    const events = readAll(openReader(), stream);
    expect(events[0]).toMatchObject({ type: 'start', usage: { inputTokens: 240 } });
    expect(events.at(-1)).toEqual({ type: 'end' });
    expect(readAll(openReader(), stream.slice(0, -1)).at(-1)?.type).toBe('usage');
  });

  test('takes a call whose input came at once', () => {
    const call = { type: 'tool_use', id: 'a', name: 'weather', input: { place: 'Oslo' } };
    const events = readAll(openReader(), [start, open(0, call), close(0)]);
    expect(events.slice(1)).toEqual([
      {
        type: 'tool-call',
        choice: 0,
        call: 0,
        id: 'a',
        name: 'weather',
        arguments: '{"place":"Oslo"}',
      },
    ]);
  });
});

describe('a stream of Anthropic that passes through', () => {
  test('throws for an error inside, however it is spaced', () => {
    const spaced = Buffer.from(
      'event: error\r\ndata: {"type" : "error", "error" : {"type" : "overloaded_error", "message" : "Overloaded"}}\r\n\r\n',
    );
    const failure = failureOf(() => openWatch().see(spaced));
    expect(failure).toMatchObject({ kind: 'broken', code: 'overloaded_error', status: 529 });
  });

  test('has not begun before its first piece, and is whole only behind its end', () => {
    const watch = openWatch();
    watch.see(framed(stream.slice(0, 3)));
    expect(watch).toMatchObject({ isStarted: false, isComplete: false, isEnded: false });
    expect(watch.usage?.inputTokens).toBe(240);
    watch.see(framed(stream.slice(3, 4)));
    expect(watch).toMatchObject({ isStarted: true, isComplete: false });
    watch.see(framed(stream.slice(4, -1)));
    expect(watch).toMatchObject({ isComplete: true, isEnded: false, usage: answered.usage });
    watch.see(framed(stream.slice(-1)));
    expect(watch.isEnded).toBe(true);
  });

  test('is not misled by a text that speaks of its events', () => {
    const watch = openWatch();
    const text = '{"type":"error","error":{}} message_stop message_delta';
    watch.see(framed([start, grow(0, { type: 'text_delta', text })]));
    expect(watch).toMatchObject({ isStarted: true, isComplete: false, isEnded: false });
  });

  test('is read alike with spaces in its JSON and several lines of data', () => {
    const watch = openWatch();
    watch.see(
      Buffer.from(
        stream
          .map((event) => {
            const lines = JSON.stringify(event, null, 2).split('\n');
            return `${lines.map((line) => `data:${line}`).join('\r\n')}\r\n\r\n`;
          })
          .join(''),
      ),
    );
    expect(watch).toMatchObject({ isStarted: true, isComplete: true, isEnded: true });
    expect(watch.usage).toEqual(answered.usage);
  });
});
