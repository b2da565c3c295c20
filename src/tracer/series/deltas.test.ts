import { expect, test } from 'vitest';
import { Deltas } from './deltas.ts';
import { binOf } from './histogram.ts';
import { seriesIdOf } from './series-id.ts';
import { addBlock } from './cell-block.ts';
import { readCellLog } from './cell-log.ts';
import { Cell } from './cells.ts';
import type { Sample } from './series.ts';
import { duration } from './testing.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const minute = Math.floor(nowMs / 60_000);

function openDeltas(seriesMax?: number) {
  const clock = { nowMs };
  const nowUs = () => clock.nowMs * 1_000;
  return { clock, deltas: new Deltas(seriesMax === undefined ? { nowUs } : { nowUs, seriesMax }) };
}

const trace = (name: string, us: number, atMs = nowMs): Sample =>
  duration('traceName', [name], { atMs, us });

/** The cells of a row of the log, those of a kind and minute by their ids. */
function rows(log: Uint8Array) {
  return [...readCellLog(log)].flatMap(({ kind, minute: bucket, block }) => {
    const cells = new Map<number, Cell>();
    addBlock(block, cells, { hasBins: true });
    return [...cells].map(([id, { count, errors, sum, bins }]) => {
      return { kind, bucket, id, count, errors, sum, bins: [...bins] };
    });
  });
}

test('what is added and taken back before it is written leaves no cell', () => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 1_000)], 1);
  deltas.add([trace('a', 1_000)], -1);
  expect(deltas.isEmpty).toBe(false);
  const { cells } = deltas.drain();
  expect(rows(cells)).toEqual([]);
  expect(deltas.isEmpty).toBe(true);
});

test('a change of a trace that was written takes its bin back', () => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 1_000)], -1);
  deltas.add([trace('a', 2_000)], 1);
  const [cell] = rows(deltas.drain().cells);
  expect(cell).toMatchObject({
    count: 0,
    sum: 1_000,
    bins: [
      [binOf(1_000), -1],
      [binOf(2_000), 1],
    ],
  });
});

test.each([
  ['90 days', 90, 1],
  ['91 days', 91, 0],
  ['-2 days', -2, 0],
  ['-0.5 days', -0.5, 1],
])('a trace that is %s old is counted if any cell is kept for it', (_name, days, cells) => {
  const { deltas } = openDeltas();
  deltas.add([trace('a', 5, nowMs - days * 86_400_000)], 1);
  expect(rows(deltas.drain().cells)).toHaveLength(cells);
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
  const counts = rows(cells).map(({ count }) => count);
  expect(counts.toSorted((one, other) => one - other)).toEqual([1, 1, 1, 2, 2]);
});

test('samples of a series and a minute become one cell', () => {
  const { deltas } = openDeltas();
  const failed = duration('traceName', ['a'], { atMs: nowMs, us: 100, isError: true });
  deltas.add([trace('a', 100), trace('a', 100), failed, trace('b', 0)], 1);
  deltas.add([trace('a', 7, nowMs - 60_000)], 1);
  const { series, cells } = deltas.drain();
  const [a, b] = [seriesIdOf('traceName', ['a']), seriesIdOf('traceName', ['b'])];
  expect(series).toMatchObject({ ids: [a, b], labels: ['["a"]', '["b"]'] });
  const found = rows(cells);
  expect(found).toHaveLength(3);
  const kind = 'traceName';
  const three = { count: 3, errors: 1, sum: 300, bins: [[binOf(100), 3]] };
  expect(found).toContainEqual({ kind, id: a, bucket: minute, ...three });
  const nothing = { count: 1, errors: 0, sum: 0, bins: [[0, 1]] };
  expect(found).toContainEqual({ kind, id: b, bucket: minute, ...nothing });
  const before = { count: 1, errors: 0, sum: 7, bins: [[binOf(7), 1]] };
  expect(found).toContainEqual({ kind, id: a, bucket: minute - 1, ...before });
});

test('names that differ only in what is not stored of them are one series', () => {
  const { deltas } = openDeltas();
  const long = 'x'.repeat(512);
  deltas.add([trace(`${long}a`, 5), trace(`${long}b`, 5)], 1);
  expect(rows(deltas.drain().cells)).toMatchObject([{ count: 2 }]);
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
