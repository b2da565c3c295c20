import { expect, test } from 'vitest';
import { entryOf, readLine, writeLine } from './spend-entry.ts';
import { addUp } from './spend-sums.ts';
import { spendOf } from './testing.ts';

const place = { seq: 1, isPart: false, hold: undefined };
const entry = entryOf(spendOf('usr_1'), place);

test.each([
  '',
  '[]',
  'null',
  '{"seq":1}',
  writeLine(entry).slice(0, -3),
  writeLine(entry).replace('"gpt"', '7'),
  writeLine({ ...entry, inputTokens: -1 }),
  writeLine({ ...entry, outputTokens: 0.5 }),
  writeLine({ ...entry, picodollars: 1e300 }),
  writeLine({ ...entry, atMs: 1e15 }),
])('the line %s is no entry', (line) => {
  expect(readLine(line)).toBeUndefined();
});

test.each([
  entry,
  { ...entry, name: undefined, hold: 'hold_1' },
  entryOf(spendOf('usr_\ud800"\n\0é', { outcome: 'cached' }), place),
  entryOf(spendOf('usr_1', { dollars: 999_999_999.123_456 }), { ...place, isPart: true }),
])('an entry is read as it was written: %j', (written) => {
  const line = writeLine(written);
  expect(line).not.toContain('\n');
  expect(readLine(line)).toEqual(written);
});

test('the last millisecond of a day in UTC counts on that day, and the next one does not', () => {
  const midnight = Date.UTC(2026, 10, 22);
  const sums = addUp([
    { ...entry, atMs: midnight - 1 },
    { ...entry, seq: 2, atMs: midnight },
    { ...entry, seq: 3, atMs: midnight, name: 'new' },
  ]);
  expect(sums).toMatchObject([
    { day: '2026-11-21', requests: 1, name: 'name of usr_1' },
    { day: '2026-11-22', requests: 2, name: 'new' },
  ]);
});

test('sums of dollars are exact, far beyond what a number holds', () => {
  const dear = entryOf(spendOf('usr_1', { dollars: 1e9 }), place);
  const cheap = entryOf(spendOf('usr_1', { dollars: 0.000_000_000_001 }), place);
  const [sum] = addUp([dear, dear, cheap, cheap, cheap]);
  expect(sum?.picodollars).toBe(2_000_000_000_000_000_000_003n);
});

test('a part of a request costs and is no request, a cached one is one and costs nothing', () => {
  const part = entryOf(spendOf('usr_1'), { ...place, isPart: true });
  const cached = entryOf(spendOf('usr_1', { outcome: 'cached' }), place);
  expect(addUp([part, cached])).toMatchObject([
    { requests: 1, cachedRequests: 1, inputTokens: 10, outputTokens: 20, picodollars: 10n ** 10n },
  ]);
});
