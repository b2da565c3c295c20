import { expect, test } from 'vitest';
import { parseEvents } from './sse.ts';

test.each(['\n\n', '\r\n\r\n', '\r\r', '\n\r\n', '\r\n\n'])(
  'events are told apart by %j',
  (end) => {
    expect(parseEvents(`data: 1${end}event: x\ndata: 2${end}id: 3\r\ndata: 3${end}`)).toEqual([
      { data: '1' },
      { event: 'x', data: '2' },
      { id: '3', data: '3' },
    ]);
  },
);
