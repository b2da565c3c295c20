import { describe, expect, test } from 'vitest';
import { parseTime, readTime } from './time-text.ts';

const at = (text: string) => Date.parse(text);

describe('a time that somebody asks for', () => {
  test.each([
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22T08:30', '2026-11-22T08:30:00.000Z'],
    ['2026-11-22 08:30:15', '2026-11-22T08:30:15.000Z'],
    ['2026-11-22T08:30Z', '2026-11-22T08:30:00.000Z'],
    ['2026-11-22t08:30:15.123456789z', '2026-11-22T08:30:15.123Z'],
    ['2026-11-22T08:30:15+02:00', '2026-11-22T06:30:15.000Z'],
    ['2026-11-22T08:30:15-0130', '2026-11-22T10:00:15.000Z'],
  ])('%s is %s', (text, expected) => expect(parseTime(text)).toBe(at(expected)));

  test('is the last millisecond of a day that is an end', () => {
    expect(parseTime('2026-11-22', 'end')).toBe(at('2026-11-22T23:59:59.999Z'));
    expect(parseTime('2026-11-22T08:30', 'end')).toBe(at('2026-11-22T08:30Z'));
  });

  test.each([
    '',
    'yesterday',
    '2026',
    '2026-11',
    '2026-02-30',
    '2026-13-01T00:00:00Z',
    '2026-11-22T23:59:60Z',
    '1796000000',
    '2026-11-22T08:30:00 02:00',
  ])('is not %j', (text) => {
    expect(parseTime(text)).toBeUndefined();
    expect(() => readTime(text, 'since')).toThrow('since must be a time such as');
  });
});
