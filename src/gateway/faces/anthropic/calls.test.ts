import { describe, expect, test } from 'vitest';
import type { Answer, AnswerEvent, Finish } from '../../conversation/answer.ts';
import { failureOf } from '../../dialects/testing.ts';
import { writeAnswer } from './answer.ts';
import { MessageStream } from './stream.ts';

const start: AnswerEvent = { type: 'start', id: 'a', model: 'm', createdAt: 1 };
const end: AnswerEvent = { type: 'end' };
const finish = (reason: Finish): AnswerEvent => ({ type: 'finish', choice: 0, finish: reason });
const opens = (call: number): AnswerEvent => ({
  type: 'tool-call',
  choice: 0,
  call,
  id: `c${call}`,
  name: `f${call}`,
  arguments: '',
});
const grows = (call: number, json: string): AnswerEvent => ({
  type: 'tool-call',
  choice: 0,
  call,
  arguments: json,
});

interface Written {
  readonly type: string;
  readonly index?: number;
  readonly delta?: Readonly<Record<string, unknown>>;
  readonly content_block?: Readonly<Record<string, unknown>>;
}

function write(pieces: readonly AnswerEvent[], onto: string[] = []): Written[] {
  const stream = new MessageStream('m');
  for (const piece of pieces) onto.push(stream.write(piece));
  return [...onto.join('').matchAll(/^data: (.*)$/gm)].map(
    // Each event's data is an object of ours.
    ([, data = '']) => JSON.parse(data) as Written,
  );
}

/** Every block with all that it grew by. */
function blocks(events: readonly Written[]): string[] {
  return events.flatMap(({ type, index, content_block: block }) => {
    if (type !== 'content_block_start') return [];
    const grown = events
      .filter((event) => event.type === 'content_block_delta' && event.index === index)
      .map(({ delta }) => String(delta?.['partial_json'] ?? delta?.['text']));
    return [`${String(block?.['id'] ?? block?.['type'])} ${grown.join('')}`];
  });
}

/** The kinds of the events, of which no block may hold another. */
function areInOrder(events: readonly Written[]): boolean {
  let open: number | undefined;
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      if (open !== undefined) return false;
      open = index;
    } else if (type.startsWith('content_block') && open !== index) return false;
    else if (type === 'content_block_stop') open = undefined;
  }
  return open === undefined;
}

describe('a streamed call whose arguments are no JSON object', () => {
  test.each(['{bad', '[1]', '5', 'null', '{"a":1', '{} {}'])('is broken off: %s', (json) => {
    const onto: string[] = [];
    const pieces = [start, opens(0), grows(0, json), finish('tool-calls'), end];
    expect(failureOf(() => write(pieces, onto)).kind).toBe('broken');
    expect(onto.join('')).not.toMatch(/content_block_stop|message_delta|message_stop/);
  });

  test('is broken off in front of the next call too', () => {
    const pieces = [start, opens(0), grows(0, '{bad'), opens(1), grows(1, '{}')];
    expect(failureOf(() => write([...pieces, finish('tool-calls')])).kind).toBe('broken');
  });

  test('is what it is where the limit of tokens cut it off', () => {
    const events = write([start, opens(0), grows(0, '{"a":'), finish('length'), end]);
    expect(blocks(events)).toEqual(['c0 {"a":']);
    expect(events.at(-2)?.delta).toMatchObject({ stop_reason: 'max_tokens' });
  });
});

describe('calls whose pieces are mixed', () => {
  test.each([
    ['by turns', [opens(0), opens(1), grows(0, '{"a":'), grows(1, '{"b":'), grows(0, '1}')]],
    ['the first last', [opens(0), grows(0, '{"a":'), opens(1), grows(1, '{"b":'), grows(0, '1}')]],
  ])('become blocks one after the other: %s', (_, pieces) => {
    const text: AnswerEvent = { type: 'text', choice: 0, text: 'so' };
    const all = [start, ...pieces, text, grows(1, '2}'), finish('tool-calls'), end];
    const events = write(all);
    expect(blocks(events)).toEqual(['c0 {"a":1}', 'c1 {"b":2}', 'text so']);
    expect(areInOrder(events)).toBe(true);
    expect(events.at(-1)?.type).toBe('message_stop');
  });

  test('do not wait where the one before is whole', () => {
    const events = write([start, opens(0), grows(0, '{"a":{}}'), opens(1), grows(1, '{"b"')]);
    expect(blocks(events)).toEqual(['c0 {"a":{}}', 'c1 {"b"']);
  });
});

describe('a refusal in the words of the model', () => {
  test('ends a message as a refusal', () => {
    const refusal: AnswerEvent = { type: 'refusal', choice: 0, text: 'I will not.' };
    const events = write([start, refusal, finish('stop'), end]);
    expect(events.at(-2)?.delta).toMatchObject({ stop_reason: 'refusal' });
    const parts = [{ type: 'refusal' as const, text: 'I will not.' }];
    expect(writeAnswer(whole(parts, 'stop'))).toMatchObject({ stop_reason: 'refusal' });
  });
});

test('a whole answer that the limit of tokens cut off in a call ends by that', () => {
  const call = { type: 'tool-call' as const, id: 'c', name: 'f', arguments: '{"a' };
  const text = { type: 'text' as const, text: 'so' };
  expect(writeAnswer(whole([text, call], 'length'))).toMatchObject({
    content: [{ type: 'text', text: 'so' }],
    stop_reason: 'max_tokens',
  });
});

function whole(parts: Answer['choices'][number]['parts'], reason: Finish): Answer {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const choices = [{ index: 0, parts, finish: reason }];
  return { id: 'a', model: 'm', createdAt: 1, choices, usage };
}
