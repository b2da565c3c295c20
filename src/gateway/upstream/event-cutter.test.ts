import { expect, test } from 'vitest';
import { EventCutter, type Framing } from './event-cutter.ts';

function cut(framing: Framing, text: string, size: number) {
  const cutter = new EventCutter(framing);
  const bytes = Buffer.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const whole = cutter.push(bytes.subarray(at, at + size));
    if (whole) pieces.push(whole.toString());
  }
  return { pieces, rest: cutter.rest()?.toString() ?? '' };
}

test.each(['\n\n', '\r\n\r\n', '\r\r', '\n\r\n', '\r\n\n'])(
  'events that end with %j are never cut within',
  (end) => {
    const events = ['data: {"a":1}', ': comment', 'event: x\ndata: größe', 'data: [DONE]'];
    const text = events.map((event) => event + end).join('');
    for (let size = 1; size <= text.length + 4; size += 1) {
      const { pieces, rest } = cut('events', `${text}data: half`, size);
      expect(pieces.join('')).toBe(text);
      expect(rest).toBe('data: half');
      for (const piece of pieces) expect(piece.endsWith(end)).toBe(true);
    }
  },
);

test('a chunk of whole events is passed on as it is', () => {
  const chunk = Buffer.from('data: 1\n\ndata: 2\n\n');
  expect(new EventCutter('events').push(chunk)).toBe(chunk);
});

test('lines are never cut within', () => {
  const { pieces, rest } = cut('lines', '{"a":1}\n{"b":"ü"}\n{"half', 3);
  expect(pieces.join('')).toBe('{"a":1}\n{"b":"ü"}\n');
  expect(rest).toBe('{"half');
});

test('an event without an end is not kept for ever', () => {
  const cutter = new EventCutter('events');
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  expect(() => {
    for (let times = 0; times < 6; times += 1) cutter.push(chunk);
  }).toThrow('4 MiB');
});

test.each<[Framing, string]>([
  ['events', 'data: 1\n\ndata: \u{FEFF}\n\n'],
  ['lines', '{"a":1}\n\u{FEFF}{"b":2}\n'],
])('of %s a byte-order mark is left out in front of the first alone', (framing, text) => {
  for (let size = 1; size < text.length + 8; size += 1) {
    expect(cut(framing, `\u{FEFF}${text}`, size)).toMatchObject({ rest: '' });
    expect(cut(framing, `\u{FEFF}${text}`, size).pieces.join('')).toBe(text);
  }
  expect(cut(framing, '\u{FEFF}half', 2)).toEqual({ pieces: [], rest: 'half' });
});
