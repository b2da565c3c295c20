import { expect, test } from 'vitest';
import { shareOut } from './shares.ts';
import { seededRandom } from './testing.ts';

test.each<[total: number, parts: number[], shares: number[]]>([
  [0, [], []],
  [0, [0, 0], [0, 0]],
  [0, [300, 100], [0, 0]],
  [1, [1, 1, 1], [1, 0, 0]],
  [10, [3333, 3333, 3334], [3, 3, 4]],
  [3, [500, 1500, 1000], [1, 1, 1]],
  [7, [0, 7000, 0], [0, 7, 0]],
])('%j in shares of %j is %j', (total, parts, shares) => {
  expect(shareOut(total, parts)).toEqual(shares);
});

test('shares always add up, and none is a whole one off', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 500; round += 1) {
    const parts = Array.from(
      { length: 1 + Math.floor(random() * 20) },
      () => 1 + Math.floor(random() ** 6 * 1e12),
    );
    const sum = parts.reduce((all, part) => all + part, 0);
    const total = Math.round(sum / 1000);
    const shares = shareOut(total, parts);
    expect(shares.reduce((all, share) => all + share, 0)).toBe(total);
    for (const [index, share] of shares.entries())
      expect(Math.abs(share - ((parts[index] ?? 0) * total) / sum)).toBeLessThan(1.000001);
  }
});
