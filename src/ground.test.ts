import { expect, it } from 'vitest';
import { cacheMegabytesFor } from './ground.ts';

const gib = 2 ** 30;

it.each([
  [0.5 * gib, 32],
  [12 * gib, 48],
  [512 * gib, 64],
])('of %d bytes of memory the database takes %d MB', (memoryBytes, megabytes) => {
  expect(cacheMegabytesFor(memoryBytes)).toBe(megabytes);
});
