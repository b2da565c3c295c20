import { describe, expect, test } from 'vitest';
import { collectAnswer } from '../../conversation/collect.ts';
import { geminiDialect } from '../gemini.ts';
import { failureOf, framed, readAll } from '../testing.ts';

const usageMetadata = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 30,
  toolUsePromptTokenCount: 5,
  totalTokenCount: 155,
};
const head = {
  responseId: 'r1',
  modelVersion: 'gemini-3-pro',
  createTime: '2026-11-21T10:00:00.5Z',
};
const part = (...parts: object[]) => ({ content: { role: 'model', parts }, index: 0 });
const call = { functionCall: { id: 'c1', name: 'weather', args: { place: 'Oslo' } } };
const ended = (reason: string) => ({ ...part({ text: 'x' }), finishReason: reason });

const body = {
  ...head,
  candidates: [
    {
      ...part(
        { text: 'Rain?', thought: true },
        { text: 'Let me ' },
        { text: 'see.', thoughtSignature: 'dGV4dA==' },
        { ...call, thoughtSignature: 'c2ln' },
        { functionCall: { id: 'c2', name: 'now' } },
      ),
      finishReason: 'STOP',
    },
  ],
  usageMetadata,
};

const stream = [
  { ...head, candidates: [part({ text: 'Ra', thought: true })], usageMetadata: {} },
  { ...head, candidates: [part({ text: 'in?', thought: true })] },
  { ...head, candidates: [part({ text: 'Let me ' })] },
  { ...head, candidates: [part({ text: 'see.', thoughtSignature: 'dGV4dA==' })] },
  { ...head, candidates: [part({ ...call, thoughtSignature: 'c2ln' })] },
  {
    ...head,
    candidates: [
      { ...part({ functionCall: { id: 'c2', name: 'now' } }, { text: '' }), finishReason: 'STOP' },
    ],
    usageMetadata,
  },
];

const answered = {
  id: 'r1',
  model: 'gemini-3-pro',
  createdAt: 1795255200,
  choices: [
    {
      index: 0,
      parts: [
        { type: 'reasoning', text: 'Rain?' },
        { type: 'text', text: 'Let me see.' },
        { type: 'reasoning', text: '', signature: 'gemini:dGV4dA==' },
        {
          type: 'tool-call',
          id: 'c1',
          name: 'weather',
          arguments: '{"place":"Oslo"}',
          signature: 'gemini:c2ln',
        },
        { type: 'tool-call', id: 'c2', name: 'now', arguments: '{}' },
      ],
      finish: 'tool-calls',
    },
  ],
  usage: { inputTokens: 105, outputTokens: 50, cachedInputTokens: 40, reasoningTokens: 30 },
};

const { readAnswer, readUsage, openReader, openWatch } = geminiDialect;
const unavailable = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } };
const blocked = { ...head, promptFeedback: { blockReason: 'SAFETY' }, usageMetadata };

describe('an answer of Gemini', () => {
  test.each([
    ['no object', 'broken', 'hello'],
    ['without a candidate', 'broken', { ...head, candidates: [] }],
    ['an error', 'broken', unavailable],
    ['a prompt that is refused', 'filtered', blocked],
    ['without its end', 'truncated', { ...head, candidates: [part({ text: 'x' })] }],
    ['a call that came out wrong', 'broken', { candidates: [ended('MALFORMED_FUNCTION_CALL')] }],
    ['a reason unheard of', 'broken', { candidates: [ended('MOON_PHASE')] }],
    [
      'an image, which no client asked for',
      'untranslatable',
      { candidates: [{ ...part({ inlineData: { data: '' } }), finishReason: 'STOP' }] },
    ],
  ])('that is %s is %s', (_what, kind, value) => {
    expect(failureOf(() => readAnswer(value)).kind).toBe(kind);
  });

  test('keeps every part in its order, with its signatures, and counts thoughts as output', () => {
    expect(readAnswer(body)).toEqual(answered);
    expect(readUsage(body)).toEqual(answered.usage);
  });

  test('has all of several choices', () => {
    const second = { ...ended('MAX_TOKENS'), index: 1 };
    const { choices } = readAnswer({ ...head, candidates: [ended('STOP'), second] });
    expect(choices).toMatchObject([
      { index: 0, finish: 'stop' },
      { index: 1, finish: 'length' },
    ]);
  });

  test.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['RECITATION', 'content-filter'],
    ['PROHIBITED_CONTENT', 'content-filter'],
    ['SPII', 'content-filter'],
  ])('that ended by %s ended by %s', (reason, finish) => {
    const { choices } = readAnswer({ candidates: [ended(reason)] });
    expect(choices[0]?.finish).toBe(finish);
  });

  test('gives calls and answers without an id one of ours', () => {
    const { id, choices } = readAnswer({
      candidates: [{ ...part({ functionCall: { name: 'now' } }), finishReason: 'STOP' }],
    });
    expect(id).toMatch(/^gen_/);
    expect(choices[0]?.parts[0]).toMatchObject({ id: expect.stringMatching(/^call_/) as string });
  });
});

describe('a stream of Gemini', () => {
  test.each([
    ['an error inside', 'broken', [stream[0], unavailable]],
    ['no JSON inside', 'broken', ['[1']],
    ['a prompt that is refused', 'filtered', [blocked]],
    ['a call that came out wrong', 'broken', [{ candidates: [ended('MALFORMED_FUNCTION_CALL')] }]],
  ])('with %s is %s', (_what, kind, values) => {
    expect(failureOf(() => readAll(openReader(), values)).kind).toBe(kind);
  });

  test('says the same as the whole answer', () => {
    expect(collectAnswer(readAll(openReader(), stream))).toEqual(answered);
  });

  test('has no end without a reason', () => {
    const types = readAll(openReader(), stream.slice(0, -1)).map(({ type }) => type);
    expect(types).not.toContain('end');
    expect(types).not.toContain('finish');
    expect(readAll(openReader(), stream).at(-1)).toEqual({ type: 'end' });
  });

  test('is watched as it is read', () => {
    const watch = openWatch();
    watch.see(framed(stream.slice(0, 1)));
    expect(watch).toMatchObject({ isStarted: true, isComplete: false, isEnded: false });
    watch.see(framed(stream.slice(1)));
    expect(watch).toMatchObject({ isComplete: true, isEnded: true, usage: answered.usage });
  });
});
