import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../dialects/upstream-error.ts';
import type { Answer, AnswerEvent } from './answer.ts';
import { collectAnswer } from './collect.ts';
import { replayAnswer } from './replay.ts';

const start: AnswerEvent = { type: 'start', id: 'a', model: 'm', createdAt: 1 };
const text = (said: string, choice = 0): AnswerEvent => ({ type: 'text', choice, text: said });
const finish = (choice = 0): AnswerEvent => ({ type: 'finish', choice, finish: 'stop' });
const usage = { inputTokens: 3, outputTokens: 2 };

describe('the pieces of an answer', () => {
  it.each([
    ['nothing', []],
    ['no start', [text('x'), finish()]],
    ['a start alone', [start]],
    ['no choice', [start, { type: 'usage', usage }, { type: 'end' }]],
    ['no finish', [start, text('x'), { type: 'end' }]],
    ['no finish of one choice', [start, text('x'), text('y', 1), finish(1)]],
  ] as [string, AnswerEvent[]][])('are refused as truncated with %s', (_, events) => {
    expect(() => collectAnswer(events)).toThrow(UpstreamError);
    expect(() => collectAnswer(events)).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ kind: 'truncated' }) }),
    );
  });

  it('make one part of what belongs together, in the order in which it came', () => {
    const { choices } = collectAnswer([
      start,
      { type: 'reasoning', choice: 0, text: 'Let ' },
      { type: 'reasoning', choice: 0, text: 'me' },
      { type: 'reasoning', choice: 0, text: '', signature: 's' },
      { type: 'reasoning', choice: 0, text: '', redacted: 'r' },
      { type: 'reasoning', choice: 0, text: 'see' },
      text('a'),
      text('b'),
      { type: 'tool-call', choice: 0, call: 0, id: 'c0', name: 'f', arguments: '{"a"' },
      { type: 'tool-call', choice: 0, call: 1, id: 'c1', name: 'g', arguments: '' },
      { type: 'tool-call', choice: 0, call: 0, arguments: ':1}', signature: 'p' },
      { type: 'refusal', choice: 0, text: 'no' },
      finish(),
    ]);
    expect(choices[0]?.parts).toEqual([
      { type: 'reasoning', text: 'Let me', signature: 's' },
      { type: 'reasoning', text: '', redacted: 'r' },
      { type: 'reasoning', text: 'see' },
      { type: 'text', text: 'ab' },
      { type: 'tool-call', id: 'c0', name: 'f', arguments: '{"a":1}', signature: 'p' },
      { type: 'tool-call', id: 'c1', name: 'g', arguments: '{}' },
      { type: 'refusal', text: 'no' },
    ]);
  });

  it('take the last word on usage, the first of a start, or an estimate', () => {
    const early = { inputTokens: 3, outputTokens: 0 };
    const events = [{ ...start, usage: early }, text('12345'), finish()];
    expect(collectAnswer(events).usage).toBe(early);
    expect(collectAnswer([...events, { type: 'usage', usage }]).usage).toBe(usage);
    expect(collectAnswer([start, text('12345'), finish()]).usage).toEqual({
      inputTokens: 0,
      outputTokens: 2,
      isEstimated: true,
    });
  });
});

const whole: Answer = {
  id: 'a',
  model: 'm',
  createdAt: 1,
  choices: [
    {
      index: 0,
      parts: [
        { type: 'reasoning', text: 'Hm', signature: 's' },
        { type: 'reasoning', text: '', redacted: 'r' },
        { type: 'text', text: 'One 😀 two  three\n'.repeat(60) },
        { type: 'tool-call', id: 'c0', name: 'f', arguments: '{"a":1}', signature: 'p' },
        { type: 'tool-call', id: 'c1', name: 'g', arguments: '{}' },
      ],
      finish: 'tool-calls',
    },
    {
      index: 1,
      parts: [{ type: 'refusal', text: 'no' }],
      finish: 'stop',
      stopSequence: 'END',
      logprobs: { content: [{ token: 'a' }] },
    },
  ],
  usage,
};

describe('a replayed answer', () => {
  it('is the same answer when it is collected again', () => {
    expect(collectAnswer(replayAnswer(whole))).toEqual(whole);
  });

  it('comes in a few pieces that tear no character, and ends', () => {
    const events = replayAnswer(whole);
    const texts = events.filter((event) => event.type === 'text' && event.choice === 0);
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.length).toBeLessThan(10);
    for (const event of texts)
      if ('text' in event) expect(Buffer.from(event.text).toString()).toBe(event.text);
    expect(events.at(-1)).toEqual({ type: 'end' });
  });

  it('has no piece for what is empty', () => {
    const empty = { ...whole, choices: [{ index: 0, parts: [], finish: 'stop' as const }] };
    expect(replayAnswer(empty).map(({ type }) => type)).toEqual([
      'start',
      'finish',
      'usage',
      'end',
    ]);
  });
});
