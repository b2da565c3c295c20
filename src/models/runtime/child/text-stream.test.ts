import { expect, test } from 'vitest';
import { TextStream } from './text-stream.ts';

/** Tokens are byte strings; broken bytes become U+FFFD as in llama.cpp. */
const detokenize = (tokens: readonly number[][]) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(tokens.flat()));

function feed(tokens: readonly number[][], stops: readonly string[] = []) {
  const stream = new TextStream<number[]>(detokenize, stops);
  const texts = tokens.map((token) => stream.push(token));
  return { texts, rest: stream.finish(), isStopped: stream.isStopped };
}

const bytesOf = (text: string) => [...Buffer.from(text)].map((byte) => [byte]);

test('a character that ends in the middle comes out as one mark when the stream finishes', () => {
  expect(feed(bytesOf('a€').slice(0, 3))).toEqual({
    texts: ['a', '', ''],
    rest: '\uFFFD',
    isStopped: false,
  });
});

test('bytes that form no character are given out and do not block what follows', () => {
  const { texts, rest } = feed([[0x80], [0x80], [0x80], [0x80], ...bytesOf('ok')]);
  expect(texts.join('') + rest).toBe('\uFFFD\uFFFD\uFFFD\uFFFDok');
});

test('an endless run of broken bytes is not held for ever', () => {
  const { texts } = feed(Array.from({ length: 40 }, () => [0xf0]));
  expect(texts.join('').length).toBeGreaterThanOrEqual(32);
});

test('characters of two, three and four bytes are never split', () => {
  const { texts, rest } = feed(bytesOf('é€😀'));
  expect(texts).toEqual(['', 'é', '', '', '€', '', '', '', '😀']);
  expect(rest).toBe('');
});

test('tokens that cut characters at both ends keep the text whole', () => {
  const bytes = [...Buffer.from('x€y😀z')];
  const { texts, rest } = feed([bytes.slice(0, 2), bytes.slice(2, 6), bytes.slice(6)]);
  expect(texts.join('') + rest).toBe('x€y😀z');
  expect(texts.join('')).not.toContain('\uFFFD');
});

test('a stop text that spans tokens ends the text before it', () => {
  const { texts, rest, isStopped } = feed(bytesOf('one END two'), ['END']);
  expect(texts.join('') + rest).toBe('one ');
  expect(isStopped).toBe(true);
});

test('what only looked like a stop text is given out', () => {
  const { texts, rest, isStopped } = feed(bytesOf('EN route EN'), ['END']);
  expect(texts.slice(0, 3)).toEqual(['', '', 'EN ']);
  expect(texts.join('') + rest).toBe('EN route EN');
  expect(isStopped).toBe(false);
});

test('of two stop texts in one token the first in the text counts', () => {
  expect(feed([[...Buffer.from('a b c')]], ['c', 'b']).texts).toEqual(['a ']);
});
