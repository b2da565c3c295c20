import type { Token } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { Sampler } from '../llama/sampler.ts';
import { openTestModel } from '../llama/testing.ts';
import { Batcher, type Reading } from './batcher.ts';
import { Sequence } from './sequence.ts';

const { model, context } = await openTestModel();
const { vocabulary } = model;
const greedy = { temperature: 0, topP: 1, topK: 0, minP: 0, seed: 1 };
const { signal } = new AbortController();

interface Wanted extends Partial<Reading> {
  readonly text: string;
  readonly number: number;
  readonly tokensMax?: number;
}

/** Writes on from a text; what is written is put into `written`. */
function readingOf({ text, number, tokensMax = 8, ...others }: Wanted, written: Token[] = []) {
  const sampler = new Sampler(model, {
    sampling: greedy,
    penalties: undefined,
    said: [],
  });
  return {
    sequence: new Sequence(number, model),
    prompt: vocabulary.tokenize(text),
    sharedTokens: 0,
    signal,
    sample: (place: number) => sampler.sample(context, place, undefined),
    take: (token: Token) => written.push(token) < tokensMax,
    ...others,
  };
}

const long = 'the quick brown fox jumps over the lazy dog '.repeat(12);

test('a short prompt does not wait until a long one has been read', async () => {
  const batcher = new Batcher(context);
  const begun: string[] = [];
  const begin = (name: string) => ({ take: () => begun.push(name) === 0 });
  await Promise.all([
    batcher.read(readingOf({ text: long, number: 0, ...begin('long') })),
    batcher.read(readingOf({ text: 'Once upon', number: 1, ...begin('short') })),
  ]);
  expect(vocabulary.tokenize(long).length).toBeGreaterThan(context.batch.capacity);
  expect(begun).toEqual(['short', 'long']);
});

test('a text goes on alike, alone and beside others, from the start and from what is remembered', async () => {
  const batcher = new Batcher(context);
  const alone: Token[] = [];
  await batcher.read(readingOf({ text: 'Once upon a time', number: 0 }, alone));
  const beside: Token[] = [];
  const first = readingOf({ text: 'Once upon a time', number: 2 }, beside);
  await Promise.all([
    batcher.read(first),
    batcher.read(readingOf({ text: 'Hello', number: 1, tokensMax: 3 })),
    batcher.read(readingOf({ text: long, number: 3, tokensMax: 20 })),
  ]);
  expect(beside).toEqual(alone);
  // The last token was sampled and never read.
  expect(first.sequence.tokens).toEqual([...first.prompt, ...alone.slice(0, -1)]);
  const again: Token[] = [];
  const sharedTokens = first.sequence.countShared(first.prompt);
  expect(sharedTokens).toBe(first.prompt.length - 1);
  const { sequence } = first;
  await batcher.read(
    readingOf({ text: 'Once upon a time', number: 2, sequence, sharedTokens }, again),
  );
  expect(again).toEqual(alone);
});

test('who gives up leaves between two batches, and the others go on', async () => {
  const batcher = new Batcher(context);
  const controller = new AbortController();
  const written: Token[] = [];
  const kept: Token[] = [];
  const giveUp = (token: Token) => {
    if (written.push(token) === 3) controller.abort(new Error('gave up'));
    return true;
  };
  const leaving = batcher.read(
    readingOf({ text: 'Hello', number: 0, signal: controller.signal, take: giveUp }),
  );
  const staying = batcher.read(readingOf({ text: 'Once upon', number: 1 }, kept));
  await expect(leaving).rejects.toThrow('gave up');
  await staying;
  expect([written.length, kept.length]).toEqual([3, 8]);
});

test('what goes wrong with a token ends its text alone', async () => {
  const batcher = new Batcher(context);
  const kept: Token[] = [];
  const failing = batcher.read(
    readingOf({
      text: 'Hello',
      number: 0,
      take: () => {
        throw new Error('cannot take it');
      },
    }),
  );
  const staying = batcher.read(readingOf({ text: 'Once upon', number: 1 }, kept));
  await expect(failing).rejects.toThrow('cannot take it');
  await staying;
  expect(kept).toHaveLength(8);
});

test('a batch that llama.cpp refuses fails those who are in it, and the next ones are read', async () => {
  const batcher = new Batcher(context);
  const tooLong = readingOf({ text: long.repeat(4), number: 0 });
  expect(tooLong.prompt.length).toBeGreaterThan(context.sequenceTokens);
  await expect(batcher.read(tooLong)).rejects.toThrow('llama_decode answered 1');
  const written: Token[] = [];
  await batcher.read(readingOf({ text: 'Once upon', number: 0 }, written));
  expect(written).toHaveLength(8);
});
