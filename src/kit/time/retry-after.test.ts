import { expect, test } from 'vitest';
import { readRetryAfter } from './retry-after.ts';

test.each([
  ['7', 7],
  [' 120 ', 120],
  ['0', 0],
  [new Date(Date.now() + 90_500).toUTCString(), expect.closeTo(90, -1) as number],
  ['Fri, 31 Dec 1999 23:59:59 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  [null, undefined],
  [undefined, undefined],
])('Retry-After: %s asks for %s seconds', (header, seconds) => {
  expect(readRetryAfter(header)).toEqual(seconds);
});
