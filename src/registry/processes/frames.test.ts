import { expect, test } from 'vitest';
import { idOfLongLine, LineSplitter, type LongLine } from './frames.ts';

test('lines come out whole however the bytes are cut', () => {
  const text = 'one\n\n{"ä":"🙂"}\r\nlast\nrest';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const splitter = new LineSplitter(100);
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      for (const line of splitter.push(bytes.subarray(at, at + size))) {
        lines.push(Buffer.isBuffer(line) ? line.toString() : 'too long');
      }
    }
    expect(lines).toEqual(['one', '', '{"ä":"🙂"}\r', 'last']);
  }
});

test('of a line that is too long its ends are kept, whatever its pieces are, and the next is whole', () => {
  const long = `{"result":"${'x'.repeat(2_000)}","jsonrpc":"2.0","id":7}`;
  for (const size of [1, 100, 255, 256, 257, 1_000, 5_000]) {
    const splitter = new LineSplitter(1_000);
    const bytes = Buffer.from(`${long}\nnext\n`);
    const lines: (Buffer | LongLine)[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      lines.push(...splitter.push(bytes.subarray(at, at + size)));
    }
    expect(lines).toEqual([
      { head: Buffer.from(long.slice(0, 256)), tail: Buffer.from(long.slice(-256)) },
      Buffer.from('next'),
    ]);
  }
});

test('a line without an end is refused, not waited for', () => {
  const splitter = new LineSplitter(10);
  expect([...splitter.push(Buffer.alloc(160, 'x'))]).toEqual([]);
  expect(() => [...splitter.push(Buffer.from('1'))]).toThrow(
    expect.objectContaining({ code: 'upstream', reason: 'answer_too_large' }),
  );
  expect([...new LineSplitter(10).push(Buffer.from('1234567890\n'))]).toHaveLength(1);
});

test.each([
  ['{"jsonrpc":"2.0","id":5,"result":{', '"x"}}', 5],
  ['{"id": "a-1", "jsonrpc": "2.0", "result": {', '}}', 'a-1'],
  ['{"result":{"id":3,', '"id":4},"jsonrpc":"2.0","id":5}', 5],
  ['{"result":{', '},"id":5,"jsonrpc":"2.0"}\r', 5],
  ['{"result":{', '"id":4}}', undefined],
  ['{"jsonrpc":"2.0","method":"x","params":{"id":5,', '}}', undefined],
])('whose answer begins with %s and ends with %s is told by its id', (head, tail, id) => {
  expect(idOfLongLine({ head: Buffer.from(head), tail: Buffer.from(tail) })).toBe(id);
});
