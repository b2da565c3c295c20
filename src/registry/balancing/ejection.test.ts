import { expect, test } from 'vitest';
import { BalancingGround, connectionOf } from './testing.ts';

const all = (count: number) =>
  Array.from({ length: count }, (_, at) => connectionOf(at, ['echo', `own-${at}`]));

function picked(ground: BalancingGround, times = 200): Set<string> {
  const names = new Set<string>();
  for (let time = 0; time < times; time += 1) {
    names.add(ground.balancer.pick('echo')!.connection.name);
  }
  return names;
}

test('four failures in a row make no outlier, a success forgives them', () => {
  const ground = new BalancingGround(all(3));
  ground.fail('con_00000', 4);
  ground.end('con_00000');
  ground.fail('con_00000', 4);
  expect(picked(ground).size).toBe(3);
});

test('five failures in a row keep a connection out for 30 s, then a minute', () => {
  const ground = new BalancingGround(all(3));
  ground.fail('con_00000', 5);
  expect(picked(ground)).toEqual(new Set(['server-1', 'server-2']));
  ground.nowMs += 29_999;
  expect(picked(ground).size).toBe(2);
  ground.nowMs += 1;
  expect(picked(ground).size).toBe(3);
  ground.fail('con_00000', 5);
  ground.nowMs += 59_999;
  expect(picked(ground).size).toBe(2);
  ground.nowMs += 1;
  expect(picked(ground).size).toBe(3);
});

test('no connection is kept out for more than five minutes', () => {
  const ground = new BalancingGround(all(2));
  for (let time = 0; time < 10; time += 1) {
    ground.fail('con_00000', 5);
    expect(picked(ground).size).toBe(1);
    ground.nowMs += 300_000;
    expect(picked(ground).size).toBe(2);
  }
});

test('more than half of twenty requests in a minute make an outlier, half of them none', () => {
  const ground = new BalancingGround(all(2));
  for (let time = 0; time < 10; time += 1) {
    ground.end('con_00000', true);
    ground.end('con_00000', false);
  }
  expect(picked(ground).size).toBe(2);
  ground.end('con_00000', true);
  expect(picked(ground).size).toBe(1);
});

test('never more than half of a pool is kept out, and who alone offers something stays', () => {
  const ground = new BalancingGround(all(4));
  for (let at = 0; at < 4; at += 1) {
    ground.fail(`con_0000${at}`, 5);
    ground.nowMs += 1;
  }
  expect(picked(ground).size).toBe(2);
  expect(ground.balancer.pick('own-0')!.connection.name).toBe('server-0');
});

test('an outlier is let in again when the rest is gone', () => {
  const ground = new BalancingGround(all(2));
  ground.fail('con_00000', 5);
  ground.directory.put(connectionOf(1, ['echo'], { status: 'disconnected', revision: 2 }));
  expect(picked(ground)).toEqual(new Set(['server-0']));
});

test('an outlier is picked where its caller accepts nobody else', () => {
  const ground = new BalancingGround(all(2));
  ground.fail('con_00000', 5);
  const { connection, why } = ground.balancer.pick('echo', {
    accepts: ({ id }) => id === 'con_00000',
  })!;
  expect(connection.name).toBe('server-0');
  expect(why).toBe('last: kept out for 30 s more after 5 failures in a row');
});

test('a connection in error is never picked, and is again once it is well', () => {
  const ground = new BalancingGround(all(1));
  ground.directory.put(connectionOf(0, ['echo'], { status: 'error', revision: 2 }));
  expect(ground.balancer.pick('echo')).toBeUndefined();
  ground.directory.put(connectionOf(0, ['echo'], { status: 'active', revision: 3 }));
  expect(ground.balancer.pick('echo')!.connection.name).toBe('server-0');
});

test('a connection is found by what it offers now, and no longer by what it did', () => {
  const ground = new BalancingGround(all(1));
  ground.directory.put(connectionOf(0, ['other'], { revision: 2 }));
  expect(ground.balancer.pick('echo')).toBeUndefined();
  expect(ground.balancer.pick('other')!.connection.name).toBe('server-0');
});
