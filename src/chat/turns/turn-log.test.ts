import {
  array,
  assert as check,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
  string,
} from 'fast-check';
import { expect, it } from 'vitest';
import { ChunkReader, type ChunkListener } from './chunk-reader.ts';
import { eventOf, TurnLog, type LogEntry } from './turn-log.ts';

const pieces = array(
  record({
    type: constantFrom('delta' as const, 'reasoning' as const, 'approval' as const),
    content: string({ unit: 'binary', maxLength: 8 }),
  }),
  { maxLength: 400 },
);

function logOf(
  given: readonly { readonly type: 'delta' | 'reasoning' | 'approval'; readonly content: string }[],
) {
  const log = new TurnLog();
  for (const { type, content } of given) {
    if (type !== 'approval') log.addPiece(type, content);
    else log.add({ type, seq: log.lastSeq + 1, callId: content, isApproved: true });
  }
  return log;
}

const wordsOf = (log: TurnLog, after: number) =>
  log
    .entriesSince(after)
    .flatMap((entry) =>
      'pieces' in entry ? entry.pieces : [entry.type === 'approval' ? entry.callId : ''],
    );

it('what stands behind any place is what came after it, in its order', () => {
  check(
    property(pieces, nat(400), (given, place) => {
      const after = Math.min(place, given.length);
      const log = logOf(given);
      expect(wordsOf(log, after)).toEqual(given.slice(after).map(({ content }) => content));
      const events = log.since(after);
      expect(events.at(-1)?.seq).toBe(after < given.length ? given.length : undefined);
      const said = events.map((event) =>
        'content' in event ? event.content : event.type === 'approval' ? event.callId : '',
      );
      expect(said.join('')).toBe(
        given
          .slice(after)
          .map(({ content }) => content)
          .join(''),
      );
    }),
    { numRuns: 200 },
  );
});

it('a log is the same however its entries reach it: in pieces, twice, through JSON', () => {
  check(
    property(pieces, array(nat(400), { maxLength: 8 }), (given, cuts) => {
      const log = logOf(given);
      const copy = new TurnLog();
      const places = [0, ...cuts.map((cut) => Math.min(cut, copy.lastSeq + cut)), 0];
      for (const place of places) {
        const after = Math.min(place, copy.lastSeq);
        const entries = JSON.parse(JSON.stringify(log.entriesSince(after))) as LogEntry[];
        for (const entry of entries) expect(copy.take(entry)).not.toBe('gap');
      }
      expect(wordsOf(copy, 0)).toEqual(given.map(({ content }) => content));
    }),
    { numRuns: 100 },
  );
});

it('tells of a gap instead of leaving one', () => {
  const log = new TurnLog();
  expect(log.take({ type: 'delta', seq: 1, pieces: ['a', 'b'] })).toMatchObject({ seq: 1 });
  expect(log.take({ type: 'delta', seq: 4, pieces: ['d'] })).toBe('gap');
  const fresh = log.take({ type: 'delta', seq: 2, pieces: ['b', 'c'] });
  expect(fresh && fresh !== 'gap' && eventOf(fresh)).toEqual({
    type: 'delta',
    seq: 3,
    content: 'c',
  });
  expect(log.take({ type: 'delta', seq: 1, pieces: ['a', 'b'] })).toBeUndefined();
});

/** What a reader tells of a stream that comes in chunks of this size. */
function read(text: string, size: number) {
  const told: unknown[] = [];
  const tell = (name: string) => (value: unknown) => void told.push([name, value]);
  const listener: ChunkListener = {
    model: tell('model'),
    text: tell('text'),
    thought: tell('thought'),
    call: tell('call'),
    finish: tell('finish'),
    counted: tell('usage'),
  };
  const reader = new ChunkReader(listener);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return { told, isDone: reader.isDone };
}

const chunk = (delta: object, more: object = {}) => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }];
  return `data: ${JSON.stringify({ id: 'x', model: 'm', choices, usage: null })}\n\n`;
};

it('reads the same text whether chunks are parsed or recognised, wherever they are cut', () => {
  const nasty = oneof(
    string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    constantFrom(
      '"',
      '\\',
      '"}',
      '\\"',
      '","x":"',
      '"},"logprobs":null',
      '{"content":"',
      '🙂',
      '\n',
      '\\\0',
    ),
  );
  check(
    property(
      array(nasty, { minLength: 1, maxLength: 20 }),
      integer({ min: 1, max: 80 }),
      (texts, size) => {
        const stream = `: hello\n\n${texts.map((content) => chunk({ content })).join('')}data: [DONE]\n\n`;
        const { told, isDone } = read(stream, size);
        expect(isDone).toBe(true);
        const said = texts.map((text) => text.replaceAll('\0', '\ufffd'));
        expect(told).toEqual([['model', 'm'], ...said.map((text) => ['text', text])]);
      },
    ),
    { numRuns: 200 },
  );
});

it('tells what is not text, and what is text beside it', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: 0.5 };
  const stream = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'a' }),
    chunk({
      content: 'b',
      tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{' } }],
    }),
    chunk({ reasoning_content: 'hm' }),
    chunk({ refusal: 'no' }),
    chunk({ content: 'c' }, { finish_reason: 'length' }),
    `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [], usage })}\r\n\r\n`,
  ].join('');
  expect(read(stream, 1_000)).toEqual({
    told: [
      ['model', 'm'],
      ['text', 'a'],
      ['text', 'b'],
      ['call', { index: 0, id: 'c1', name: 'f', arguments: '{' }],
      ['thought', 'hm'],
      ['text', 'no'],
      ['text', 'c'],
      ['finish', 'length'],
      ['usage', { promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 0.5 }],
    ],
    isDone: false,
  });
});

it.each([
  'data: {"error":{"message":"no","code":"x"}}\n\n',
  'data: {broken\n\n',
  `data: ${'x'.repeat(5_000_000)}`,
])('fails for a stream that is no answer', (stream) => {
  expect(() => read(stream, 100_000)).toThrow(expect.objectContaining({ code: 'unavailable' }));
});
