import { expect, test } from 'vitest';
import { loop } from '../components/logic/loop.ts';
import { parallel } from '../components/logic/parallel.ts';
import { nodesKept } from './rerun.ts';
import { makeComponent, makePlan } from './testing.ts';

const noop = makeComponent('NoOp');

test('of a Parallel only what depends on the branch runs again', () => {
  const plan = makePlan({
    nodes: {
      s: noop,
      p: { component: parallel, onError: 'continue' },
      a: noop,
      a2: noop,
      b: noop,
      c: noop,
      z: noop,
      e: noop,
      r: noop,
    },
    edges: ['s>p', 'p>a', 'a>a2', 'p>b', 'p>c', 'a2>z', 'b>z', 'c>z', 'p:error>e'],
    references: { r: ['p'] },
  });
  expect(nodesKept(plan, 'b')).toEqual(['s', 'a', 'a2', 'c']);
  expect(nodesKept(plan, 'a2')).toEqual(['s', 'p', 'a', 'b', 'c', 'e', 'r']);
  expect(nodesKept(plan, 'p')).toEqual(['s']);
  expect(nodesKept(plan, 's')).toEqual([]);
});

test('a Parallel among the branches of another closes it too, and a Loop runs again as a whole', () => {
  const plan = makePlan({
    nodes: { o: parallel, p: parallel, a: noop, b: noop, l: loop, x: noop, y: noop },
    edges: ['o>p', 'o>l', 'p>a', 'p>b', 'l>x', 'x>y', 'y>l'],
  });
  expect(nodesKept(plan, 'a')).toEqual(['b', 'l', 'x', 'y']);
  expect(nodesKept(plan, 'y')).toEqual(['p', 'a', 'b']);
});
