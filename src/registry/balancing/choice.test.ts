import { expect, test } from 'vitest';
import type { Strategy } from './strategy.ts';
import { BalancingGround, connectionOf, seededRandom } from './testing.ts';

function poolOf(count: number, metadata: readonly Record<string, unknown>[] = []) {
  const numbers = Array.from({ length: count }, (_, at) => at);
  return new BalancingGround(
    numbers.map((at) => connectionOf(at, ['echo'], { metadata: metadata[at] ?? {} })),
  );
}

/** How often each connection is picked. */
function counts(ground: BalancingGround, strategy: Strategy, times: number): number[] {
  const found = new Map([...ground.directory.all()].map(({ id }) => [id, 0]));
  for (let time = 0; time < times; time += 1) {
    const id = ground.balancer.pick('echo', { strategy, key: `key-${time}` })!.connection.id;
    found.set(id, found.get(id)! + 1);
  }
  return [...found.values()];
}

test('nothing is picked where nobody offers it', () => {
  expect(poolOf(3).balancer.pick('other')).toBeUndefined();
});

test.each<Strategy>(['power-of-two', 'latency', 'least-loaded', 'consistent-hash'])(
  '%s spreads requests evenly over equals',
  (strategy) => {
    for (const count of counts(poolOf(10), strategy, 10_000)) {
      expect(count).toBeGreaterThan(850);
      expect(count).toBeLessThan(1_150);
    }
  },
);

test('round-robin gives everybody the same number of turns', () => {
  expect(counts(poolOf(7), 'round-robin', 700)).toEqual(Array.from({ length: 7 }, () => 100));
});

test.each<Strategy>(['power-of-two', 'least-loaded', 'consistent-hash', 'round-robin'])(
  '%s gives idle connections their share by weight',
  (strategy) => {
    const ground = poolOf(4, [{ weight: 3 }, {}, { weight: 0.5 }, { weight: 0.5 }]);
    const shares = counts(ground, strategy, 10_000).map((count) => count / 10_000);
    for (const [at, share] of [0.6, 0.2, 0.1, 0.1].entries()) {
      expect(Math.abs(shares[at]! - share)).toBeLessThan(0.03);
    }
  },
);

test('round-robin goes on with the next when connections come and go', () => {
  const ground = poolOf(4);
  const next = () => ground.balancer.pick('echo', { strategy: 'round-robin' })!.connection.name;
  expect([next(), next()]).toEqual(['server-0', 'server-1']);
  ground.directory.put(connectionOf(1, ['echo'], { status: 'disconnected', revision: 2 }));
  ground.directory.put(connectionOf(9, ['echo']));
  expect([next(), next(), next(), next()]).toEqual([
    'server-2',
    'server-3',
    'server-9',
    'server-0',
  ]);
});

test('least-loaded takes who has the most room, by capacity', () => {
  const ground = poolOf(3, [{ capacity: 4 }, { capacity: 100 }, { capacity: 4 }]);
  ground.meterOf('con_00000').ownActive = 1;
  ground.meterOf('con_00001').ownActive = 20;
  ground.meterOf('con_00002').othersActive = 2;
  const picked = ground.balancer.pick('echo', { strategy: 'least-loaded' })!;
  expect(picked.connection.name).toBe('server-1');
  expect(picked.why).toBe('least-loaded: 20 of 100 in use');
});

test('power-of-two never takes the most loaded of several', () => {
  const ground = poolOf(5);
  for (let at = 0; at < 5; at += 1) ground.meterOf(`con_0000${at}`).ownActive = at;
  const found = counts(ground, 'power-of-two', 10_000);
  expect(found[4]).toBe(0);
  expect(found.toSorted((one, other) => other - one)).toEqual(found);
});

test('latency keeps most requests from a slow connection, and tries it again later', () => {
  const ground = poolOf(2);
  ground.end('con_00000', false, 5);
  ground.end('con_00001', false, 500);
  expect(counts(ground, 'latency', 1_000)).toEqual([1_000, 0]);
  ground.nowMs += 300_000;
  ground.end('con_00000', false, 5);
  expect(counts(ground, 'latency', 1_000)[1]).toBe(1_000);
});

test('latency sends one request at a time to a connection not measured yet', () => {
  const ground = poolOf(2);
  ground.end('con_00000', false, 5);
  expect(ground.balancer.pick('echo', { strategy: 'latency' })!.connection.name).toBe('server-1');
  ground.meterOf('con_00001').ownActive = 1;
  expect(ground.balancer.pick('echo', { strategy: 'latency' })!.connection.name).toBe('server-0');
});

test('consistent-hash moves only the keys of a connection that goes', () => {
  const ground = poolOf(10);
  const placeOf = (key: string) =>
    ground.balancer.pick('echo', { strategy: 'consistent-hash', key })!.connection.name;
  const keys = Array.from({ length: 2_000 }, (_, at) => `user-${at}`);
  const before = keys.map(placeOf);
  expect(keys.map(placeOf)).toEqual(before);
  ground.directory.put(connectionOf(3, ['echo'], { status: 'disconnected', revision: 2 }));
  for (const [at, place] of keys.map(placeOf).entries()) {
    if (before[at] === 'server-3') expect(place).not.toBe('server-3');
    else expect(place).toBe(before[at]);
  }
});

test('a new connection begins with a small share', () => {
  const ground = poolOf(3);
  const { nowMs } = ground;
  ground.directory.put(connectionOf(3, ['echo'], { createdAtMs: nowMs }));
  const share = () => counts(ground, 'power-of-two', 10_000)[3]! / 10_000;
  expect(share()).toBeLessThan(0.05);
  ground.nowMs += 30_000;
  expect(share()).toBeGreaterThan(0.22);
});

test('a request goes elsewhere when its caller does not accept the first', () => {
  const ground = poolOf(3);
  const accepts = ({ name }: { readonly name: string }) => name === 'server-2';
  expect(ground.balancer.pick('echo', { accepts })!.connection.name).toBe('server-2');
  expect(ground.balancer.pick('echo', { accepts: () => false })).toBeUndefined();
});

/** The 99th percentile of the time in a queue, ten servers at four fifths of what they can do. */
function simulate(strategy: Strategy | 'random', slowdown: number): number {
  const size = 10;
  const ground = poolOf(size);
  const random = seededRandom(7);
  const meters = [...ground.directory.all()].map(({ id }) => ground.meterOf(id));
  const freeAt = meters.map(() => 0);
  const running = meters.map((): { readonly from: number; readonly end: number }[] => []);
  const latencies: number[] = [];
  const start = ground.nowMs;
  let clock = 0;
  for (let count = 0; count < 20_000; count += 1) {
    clock += (-Math.log(1 - random()) / (0.8 * size)) * 100;
    ground.nowMs = start + clock;
    for (const [at, queue] of running.entries()) {
      while (queue[0] && queue[0].end <= clock) {
        const { from, end } = queue.shift()!;
        meters[at]!.ownActive -= 1;
        meters[at]!.note({ latencyMs: end - from, outcome: 'success', bucket: 0 }, start + end);
      }
    }
    const at =
      strategy === 'random'
        ? Math.floor(random() * size)
        : Number(ground.balancer.pick('echo', { strategy })!.connection.name.slice(7));
    const service = -Math.log(1 - random()) * 100 * (at === 0 ? slowdown : 1);
    const end = Math.max(clock, freeAt[at]!) + service;
    freeAt[at] = end;
    running[at]!.push({ from: clock, end });
    meters[at]!.ownActive += 1;
    latencies.push(end - clock);
  }
  return latencies.toSorted((one, other) => one - other)[Math.floor(latencies.length * 0.99)]!;
}

test('under load, power-of-two waits a fraction of what chance does, and least-loaded less', () => {
  const chance = simulate('random', 1);
  const two = simulate('power-of-two', 1);
  expect(two).toBeLessThan(chance / 2);
  expect(simulate('least-loaded', 1)).toBeLessThan(two);
});

test('with one server three times slower, latency waits less than round-robin by far', () => {
  expect(simulate('latency', 3)).toBeLessThan(simulate('round-robin', 3) / 4);
});
