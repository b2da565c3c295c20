import { expect, test } from 'vitest';
import { LineCutter, lineBytesMax } from './line-cutter.ts';

test('a line without end takes bounded memory and is cut', () => {
  const cutter = new LineCutter();
  for (let at = 0; at < 100; at += 1) expect(cutter.push(Buffer.alloc(4_096, 'x'))).toEqual([]);
  expect(cutter.pendingBytes).toBe(lineBytesMax);
  const [line] = cutter.push(Buffer.from('\nnext\n'));
  expect(line).toBe(`${'x'.repeat(lineBytesMax)}…`);
});

test('letters that are cut between two reads stay whole', () => {
  const cutter = new LineCutter();
  const bytes = Buffer.from('grün\r\nrest');
  expect(cutter.push(bytes.subarray(0, 3))).toEqual([]);
  expect(cutter.push(bytes.subarray(3))).toEqual(['grün']);
  expect(cutter.end()).toEqual(['rest']);
  expect(cutter.end()).toEqual([]);
});
