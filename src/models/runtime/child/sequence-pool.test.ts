import type { Token } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { SequencePool, type Place } from './sequence-pool.ts';
import { Sequence } from './sequence.ts';

const tokensOf = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0) as Token);

/** A sequence that holds a text, a token to a letter. */
function holding(text: string, number: number): Sequence {
  const sequence = new Sequence(number, { canGoBack: true });
  sequence.tokens.push(...tokensOf(text));
  return sequence;
}

function openPool(texts: readonly string[], mark?: string) {
  const pool = new SequencePool(texts.map(holding), mark === undefined ? mark : tokensOf(mark)[0]);
  // All were used, in their order, by the same subject.
  const places = texts.map(() => pool.take([], undefined));
  for (const { sequence } of places) pool.give(sequence, 'ada');
  return pool;
}

const numbersOf = (places: readonly Place[]) => places.map(({ sequence }) => sequence.number);

test('who asked before gets the sequence with the longest beginning of the prompt', () => {
  const pool = openPool(['good day', 'good evening', 'goodbye']);
  const prompt = tokensOf('good evening to you');
  expect(pool.take(prompt, 'ada')).toMatchObject({ sequence: { number: 1 }, sharedTokens: 12 });
  expect(pool.take(prompt, 'bob')).toMatchObject({ sharedTokens: 0 });
});

test('the last token of a prompt is never shared: what follows is sampled from it', () => {
  const pool = openPool(['good day']);
  expect(pool.take(tokensOf('good day'), 'ada')).toMatchObject({ sharedTokens: 7 });
});

test('everybody finds the mark that all prompts begin with, and nothing of what others asked', () => {
  const pool = openPool(['^good day', '^good evening'], '^');
  expect(pool.take(tokensOf('^good evening'), 'bob')).toMatchObject({
    sharedTokens: 1,
    isRemembered: false,
  });
  expect(pool.take(tokensOf('good evening'), undefined)).toMatchObject({ sharedTokens: 0 });
});

test('the mark alone makes no sequence the one of who asked before', () => {
  const pool = openPool(['^a', '^b', '^c'], '^');
  const mine = pool.take([], 'ada');
  const next = pool.take(tokensOf('^z'), 'bob');
  pool.give(next.sequence, 'bob');
  expect(numbersOf([mine, next])).toEqual([0, 1]);
  // 2 holds a text of the same subject, but 1 stands beside the one in use.
  expect(pool.take(tokensOf('^z'), 'ada')).toMatchObject({
    sequence: { number: 1 },
    isRemembered: false,
  });
  expect(openPool(['^a'], '^').take(tokensOf('^a!'), 'ada').isRemembered).toBe(true);
});

test('others get the longest unused one, or one beside those in use', () => {
  const pool = openPool(['a', 'b', 'c', 'd', 'e', 'f']);
  const [first, second, third] = [0, 1, 2].map(() => pool.take([], 'bob'));
  if (!first || !second || !third) throw new Error('no sequence');
  expect(numbersOf([first, second, third])).toEqual([0, 1, 2]);
  pool.give(second.sequence, 'bob');
  expect(pool.take([], 'cleo').sequence.number).toBe(1);
  pool.give(first.sequence, 'bob');
  pool.give(third.sequence, 'bob');
  // 1 is still in use; of its neighbours, 0 was given back before 2, and 3 is beside neither.
  expect(numbersOf([pool.take([], 'dan'), pool.take([], 'dan')])).toEqual([0, 2]);
});

test('with none in use, the longest unused one goes first', () => {
  const pool = openPool(['a', 'b', 'c']);
  const place = pool.take([], 'bob');
  pool.give(place.sequence, 'bob');
  expect(place.sequence.number).toBe(0);
  expect(pool.take([], 'bob').sequence.number).toBe(1);
});
