import { expect, test } from 'vitest';
import { compareWindows, type OperationWindow } from './window.ts';
import { seededRandom } from '../trace/testing.ts';

function row(given: Partial<OperationWindow> = {}): OperationWindow {
  const count = given.count ?? 1_000;
  const p50Us = given.p50Us ?? 10_000;
  return {
    service: 'shop',
    name: 'read',
    kind: 1,
    count,
    errors: 0,
    p50Us,
    p95Us: p50Us * 3,
    sumUs: p50Us * count,
    selfSumUs: p50Us * count,
    ...given,
  };
}

test('ranges without spans have no difference', () => {
  expect(compareWindows([], [])).toEqual({ operations: [], workChangeUs: 0, speedUs: 0 });
});

test('an operation of no spans divides nothing by zero', () => {
  const none = row({ count: 0, p50Us: 0, p95Us: 0, sumUs: 0, selfSumUs: 0 });
  const [change] = compareWindows([none], [none]).operations;
  expect(change).toMatchObject({ duration: 'too-few', speedUs: 0, volumeUs: 0 });
});

test('an operation that only one range has changed in volume only', () => {
  const { operations } = compareWindows([row({ name: 'old' })], [row({ name: 'new' })]);
  expect(operations.map(({ name, speedUs, volumeUs }) => [name, speedUs, volumeUs])).toEqual([
    ['new', 0, 10_000_000],
    ['old', 0, -10_000_000],
  ]);
  expect(operations.map(({ duration }) => duration)).toEqual(['too-few', 'too-few']);
});

test.each([
  ['fewer than 30 spans', row({ count: 29 }), row({ count: 29, p50Us: 90_000 }), 'too-few'],
  [
    'what the sketch may err',
    row({ count: 9e9 }),
    row({ count: 9e9, p50Us: 10_150 }),
    'insignificant',
  ],
  [
    'a tenth more of a hundred',
    row({ count: 100 }),
    row({ count: 100, p50Us: 11_000 }),
    'insignificant',
  ],
  [
    'a tenth more of many',
    row({ count: 10_000 }),
    row({ count: 10_000, p50Us: 11_000 }),
    'significant',
  ],
  [
    'a tenth less of many',
    row({ count: 10_000 }),
    row({ count: 10_000, p50Us: 9_000 }),
    'significant',
  ],
  [
    'twice as long of a hundred',
    row({ count: 100 }),
    row({ count: 100, p50Us: 20_000 }),
    'significant',
  ],
])('the duration of %s', (_title, base, other, expected) => {
  expect(compareWindows([base], [other]).operations[0]?.duration).toBe(expected);
});

test.each([
  ['no error in either', 0, 0, 'insignificant'],
  ['every call an error in both', 1_000, 1_000, 'insignificant'],
  ['ten and fifteen errors of a thousand', 10, 15, 'insignificant'],
  ['ten and sixty errors of a thousand', 10, 60, 'significant'],
  ['sixty and ten errors of a thousand', 60, 10, 'significant'],
])('the error rate of %s', (_title, before, after, expected) => {
  const { operations } = compareWindows([row({ errors: before })], [row({ errors: after })]);
  expect(operations[0]?.errorRate).toBe(expected);
});

test('calls that take longer and calls that are more are told apart, and add up', () => {
  const base = row({ count: 100, selfSumUs: 1_000_000 });
  const other = row({ count: 300, selfSumUs: 6_000_000 });
  expect(compareWindows([base], [other])).toMatchObject({
    workChangeUs: 5_000_000,
    speedUs: 3_000_000,
    operations: [{ speedUs: 3_000_000, volumeUs: 2_000_000 }],
  });
});

test('a longer range is no more work by itself', () => {
  const base = row({ count: 100, selfSumUs: 1_000_000 });
  const other = row({ count: 2_400, selfSumUs: 24_000_000 });
  expect(compareWindows([base], [other], 24)).toMatchObject({ workChangeUs: 0, speedUs: 0 });
});

test('in any ranges the operations’ changes add up to the change of all work', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom(seed);
    const rows = () =>
      ['a', 'b', 'c', 'd', 'e', 'f']
        .filter(() => random() < 0.8)
        .map((name) =>
          row({
            name,
            count: Math.floor(random() * 1_000),
            selfSumUs: Math.floor(random() * 1_000_000),
          }),
        );
    const [base, other] = [rows(), rows()];
    const { operations, workChangeUs } = compareWindows(base, other);
    const work = (all: readonly OperationWindow[]) =>
      all.reduce((sum, { selfSumUs }) => sum + selfSumUs, 0);
    expect(workChangeUs, `seed ${seed}`).toBe(work(other) - work(base));
    const sum = operations.reduce((us, change) => us + change.speedUs + change.volumeUs, 0);
    expect(sum, `seed ${seed}`).toBe(workChangeUs);
    expect(compareWindows(base.toReversed(), other.toReversed()).operations).toEqual(operations);
  }
});
