import { expect, test } from 'vitest';
import { readStamp, StampedLines } from './stamped-lines.ts';

const base = '2026-11-22T08:00:0';

test('a line that is read again after a break is told once', () => {
  const lines = new StampedLines(0);
  lines.begin();
  expect(lines.take(`${base}1.5Z a`)).toBe('a');
  expect(lines.take(`${base}1.500000001Z b`)).toBe('b');
  expect(lines.begin()).toBe(Date.parse(`${base}1Z`) / 1000);
  expect(lines.take(`${base}1.5Z a`)).toBeUndefined();
  expect(lines.take(`${base}1.500000001Z b`)).toBeUndefined();
  expect(lines.take(`${base}1.6Z c`)).toBe('c');
});

test('lines of the same time are all told, once each', () => {
  const lines = new StampedLines(0);
  lines.begin();
  expect(lines.take(`${base}1Z a`)).toBe('a');
  expect(lines.take(`${base}1Z b`)).toBe('b');
  lines.begin();
  expect(['a', 'b', 'c'].map((text) => lines.take(`${base}1Z ${text}`))).toEqual([
    undefined,
    undefined,
    'c',
  ]);
});

test('of what was stored before, only later lines are told', () => {
  const lines = new StampedLines(Date.parse(`${base}2.500Z`));
  lines.begin();
  expect(lines.take(`${base}2.4Z before`)).toBeUndefined();
  expect(lines.take(`${base}2.6Z after`)).toBe('after');
});

test('a time with a zone is the same moment, and a line without one is told as it is', () => {
  expect(readStamp(`2026-11-22T09:00:01+01:00 a`)?.atNanos).toBe(readStamp(`${base}1Z a`)?.atNanos);
  expect(new StampedLines(0).take('no time')).toBe('no time');
});
