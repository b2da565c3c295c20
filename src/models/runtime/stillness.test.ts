import { expect, test } from 'vitest';
import { Stillness, type Sight } from './stillness.ts';

/** Stopped in the middle of its tasks. */
const still: Sight = {
  activity: { cpuMs: 700, pagesRead: 3 },
  hasSpoken: false,
  hasDelivered: false,
  isWorking: true,
};

/** The look at which the child counts as hung, and why; each is a second after the other. */
function findHang(sightAt: (look: number) => Partial<Sight>, looks = 200) {
  const stillness = new Stillness(10_000);
  for (let look = 0; look < looks; look++) {
    const reason = stillness.look({ ...still, ...sightAt(look) }, 1000);
    if (reason !== undefined) return { look, reason };
  }
  return undefined;
}

const busy = (look: number) => ({ activity: { cpuMs: 700 + 1000 * look, pagesRead: 3 } });

test('a child with tasks that takes no CPU time hangs, whether it answers or not', () => {
  expect(findHang(() => ({}))).toEqual({ look: 10, reason: 'no sign of work for 10000 ms' });
  // The answers themselves take some.
  const answering = findHang((look) => ({
    hasSpoken: true,
    activity: { cpuMs: 700 + 10 * Math.floor(look / 5), pagesRead: 3 },
  }));
  expect(answering).toMatchObject({ look: 10 });
});

test('a child without tasks that does not answer hangs, and one that answers does not', () => {
  expect(findHang(() => ({ isWorking: false }))).toMatchObject({ look: 10 });
  expect(findHang(() => ({ isWorking: false, hasSpoken: true }))).toBeUndefined();
});

test('a child that takes CPU time may be silent ten times as long, and no longer', () => {
  const reason = 'no answer for 100000 ms';
  expect(findHang(busy)).toEqual({ look: 99, reason });
  expect(findHang((look) => ({ ...busy(look), hasSpoken: look % 50 === 0 }))).toBeUndefined();
});

test('a child that answers and takes CPU time, or reads from a disk, never hangs', () => {
  expect(findHang((look) => ({ ...busy(look), hasSpoken: true }))).toBeUndefined();
  const reading = findHang((look) => ({
    hasSpoken: true,
    activity: { cpuMs: 700, pagesRead: Math.floor(look / 9) },
  }));
  expect(reading).toBeUndefined();
});

test('a child that was stopped for less than the limit counts as new once it goes on', () => {
  const now = (look: number) => Math.floor(look / 9);
  expect(findHang((look) => ({ ...busy(now(look)), hasSpoken: look % 9 === 0 }))).toBeUndefined();
});

test('where the system counts nothing only silence tells', () => {
  const unknown = { activity: undefined };
  expect(findHang(() => unknown)).toMatchObject({ look: 99 });
  expect(findHang(() => ({ ...unknown, hasSpoken: true }))).toBeUndefined();
});
