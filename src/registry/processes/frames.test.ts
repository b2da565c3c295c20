import { expect, test } from 'vitest';
import { LineSplitter } from './frames.ts';

test('lines come out whole however the bytes are cut', () => {
  const text = 'one\n\n{"ä":"🙂"}\r\nlast\nrest';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const splitter = new LineSplitter(100);
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      for (const line of splitter.push(bytes.subarray(at, at + size))) lines.push(String(line));
    }
    expect(lines).toEqual(['one', '', '{"ä":"🙂"}\r', 'last']);
  }
});

test('a line is refused as soon as it is too long, not only when it ends', () => {
  const splitter = new LineSplitter(10);
  expect([...splitter.push(Buffer.from('1234567890'))]).toEqual([]);
  expect(() => [...splitter.push(Buffer.from('1'))]).toThrow(
    expect.objectContaining({ code: 'upstream', reason: 'answer_too_large' }),
  );
  expect([...new LineSplitter(10).push(Buffer.from('1234567890\n'))]).toHaveLength(1);
});
