import { expect, test } from 'vitest';
import { eventLine } from './event-line.ts';

test('a trace is one line, whatever it is named', () => {
  const name = 'buy\n2026-01-31T08:00:00Z  forged\u001B[2J';
  const data = { name, duration: 90, status: 'error', spans: 2, bottlenecks: 1 };
  expect(
    eventLine({ type: 'trace-completed', traceId: 'a1', timestamp: '2026-01-31T08:00:00Z', data }),
  ).toBe(
    '2026-01-31T08:00:00Z  a1  error       90 ms    2 spans  buy?2026-01-31T08:00:00Z  forged?[2J, 1 bottleneck',
  );
  expect(eventLine({ type: 'gap' })).toBeUndefined();
});
