import { expect, test } from 'vitest';
import { Deltas } from './deltas.ts';
import { seriesIdOf } from './series-id.ts';
import type { CellColumns, Sample } from './series.ts';
import { duration } from './testing.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const minute = Math.floor(nowMs / 60_000);
const day = 1_440;

function openDeltas(seriesMax?: number) {
  const clock = { nowMs };
  const nowUs = () => clock.nowMs * 1_000;
  return { clock, deltas: new Deltas(seriesMax === undefined ? { nowUs } : { nowUs, seriesMax }) };
}

const trace = (name: string, us: number, atMs = nowMs): Sample =>
  duration('traceName', [name], { atMs, us });

function rows(columns: CellColumns) {
  return columns.seriesIds.map((id, at) => ({
    id,
    bucket: columns.buckets[at],
    count: columns.counts[at],
    errors: columns.errors[at],
    sum: columns.sums[at],
    bins: columns.bins[at],
    binCounts: columns.binCounts[at],
  }));
}

test('what is added and taken back before it is written leaves no cell', () => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 1_000)], 1);
  deltas.add([trace('a', 1_000)], -1);
  expect(deltas.isEmpty).toBe(false);
  const { cells } = deltas.drain();
  expect([cells.minute, cells.hour, cells.day].flatMap(rows)).toEqual([]);
  expect(deltas.isEmpty).toBe(true);
});

test('a change of a trace that was written takes its bin back', () => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 1_000)], -1);
  deltas.add([trace('a', 2_000)], 1);
  const [cell] = rows(deltas.drain().cells.minute);
  expect(cell).toMatchObject({ count: 0, sum: 1_000, binCounts: '{-1,1}' });
});

test.each([
  ['8 days', 8, [0, 1, 1]],
  ['31 days', 31, [0, 0, 1]],
  ['91 days', 91, [0, 0, 0]],
  ['-2 days', -2, [0, 0, 0]],
  ['-0.5 days', -0.5, [1, 1, 1]],
])('a trace that is %s old is counted where its cells are kept', (_name, days, counts) => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 5, nowMs - days * 86_400_000)], 1);
  const { cells } = deltas.drain();
  expect([cells.minute, cells.hour, cells.day].map(({ counts: all }) => all.length)).toEqual(
    counts,
  );
});

test('labels that the database does not take are made harmless', () => {
  const { deltas } = openDeltas();
  deltas.add([trace(`a\0b\ud800${'x'.repeat(5_000)}`, 5)], 1);
  const [labels] = deltas.drain().series.labels;
  expect(labels).not.toContain(String.raw`\u0000`);
  expect(JSON.parse(labels!)).toEqual([`a\ufffdb\ufffd${'x'.repeat(508)}`]);
});

test('names beyond the bound count under (other), with their closed label', () => {
  const { deltas } = openDeltas(2);
  const operation = (name: string, kind = 'server') =>
    duration('operation', ['svc', name, kind], { atMs: nowMs, us: 10 });
  deltas.add(
    ['a', 'b', 'c', 'd'].map((name) => operation(name)),
    1,
  );
  deltas.add([operation('e', 'client'), operation('a'), trace('free', 10)], 1);
  const { series, cells } = deltas.drain();
  expect(series.labels).toEqual([
    '["svc","a","server"]',
    '["svc","b","server"]',
    '["(other)","(other)","server"]',
    '["(other)","(other)","client"]',
    '["free"]',
  ]);
  expect(rows(cells.minute).map(({ count }) => count)).toEqual([2, 1, 2, 1, 1]);
});

test('samples of a series and a minute become one cell of each level', () => {
  const { deltas } = openDeltas();
  const failed = duration('traceName', ['a'], { atMs: nowMs, us: 100, isError: true });
  deltas.add([trace('a', 100), trace('a', 100), failed, trace('b', 0)], 1);
  const { series, cells } = deltas.drain();
  const a = seriesIdOf('traceName', ['a']);
  expect(series).toMatchObject({
    ids: [a, seriesIdOf('traceName', ['b'])],
    labels: ['["a"]', '["b"]'],
  });
  const both = { id: a, count: 3, errors: 1, sum: 300, binCounts: '{3}' };
  expect(rows(cells.minute)[0]).toMatchObject({ ...both, bucket: minute });
  expect(rows(cells.hour)[0]).toMatchObject({ ...both, bucket: minute - 30 });
  expect(rows(cells.day)[0]).toMatchObject({ ...both, bucket: minute - (minute % day) });
  expect(rows(cells.day)[1]).toMatchObject({ bins: '{0}', sum: 0 });
});

test('minutes of an hour add up in it', () => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 100), trace('a', 100, nowMs - 60_000), trace('a', 7, nowMs - 120_000)], 1);
  const { cells } = deltas.drain();
  expect(rows(cells.minute).map(({ count }) => count)).toEqual([1, 1, 1]);
  expect(rows(cells.hour)).toMatchObject([{ count: 3, sum: 207 }]);
  expect(rows(cells.day)).toMatchObject([{ count: 3, sum: 207 }]);
});

test('names that differ only in what is not stored of them are one series', () => {
  const { deltas } = openDeltas();
  const long = 'x'.repeat(512);
  deltas.add([trace(`${long}a`, 5), trace(`${long}b`, 5)], 1);
  expect(rows(deltas.drain().cells.minute)).toMatchObject([{ count: 2 }]);
});

test('the labels of a series are told once a day', () => {
  const { clock, deltas } = openDeltas();
  const told = () => {
    deltas.add([trace('a', 1, clock.nowMs)], 1);
    return deltas.drain().series.labels.length;
  };
  expect([told(), told()]).toEqual([1, 0]);
  clock.nowMs += 86_400_000;
  expect([told(), told(), told()]).toEqual([0, 1, 0]);
});

test('self times have no histogram by the minute', () => {
  const { deltas } = openDeltas();
  deltas.add([duration('self', ['s', 'n', 'server'], { atMs: nowMs, us: 9 })], 1);
  const { cells } = deltas.drain();
  expect(rows(cells.minute)).toMatchObject([{ sum: 9, bins: '{}' }]);
  expect(rows(cells.hour)).toMatchObject([{ sum: 9, binCounts: '{1}' }]);
});

test('numbers of series differ and are below 2^53', () => {
  const ids = new Set<number>();
  for (let at = 0; at < 20_000; at += 1) {
    ids.add(seriesIdOf('traceName', [`GET /${at}`]));
    ids.add(seriesIdOf('traceAgent', [`GET /${at}`]));
    ids.add(seriesIdOf('edge', [`a${at}`, 'b', 'service']));
    ids.add(seriesIdOf('edge', ['a', `${at}b`, 'service']));
  }
  expect(ids.size).toBe(80_000);
  expect([...ids].every((id) => Number.isSafeInteger(id) && id >= 0)).toBe(true);
});
