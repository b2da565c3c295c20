import { expect, test } from 'vitest';
import { headOf, randomTrace, shuffled } from './testing.ts';
import { buildTree, type SpanTree, type TreeNode } from './tree.ts';

test('a trace without spans is an empty tree', () => {
  expect(buildTree([])).toMatchObject({ nodes: [], roots: [], topDown: [] });
});

test('a span whose parent never came stands at the top and keeps its children', () => {
  const tree = buildTree([
    headOf('child', [2, 3], { parentSpanId: 'orphan' }),
    headOf('orphan', [1, 4], { parentSpanId: 'elsewhere' }),
  ]);
  expect(shapeOf(tree)).toEqual(['orphan:orphan', ' child']);
});

test('a span that names itself as its parent is a root', () => {
  const tree = buildTree([headOf('self', [1, 4], { parentSpanId: 'self' })]);
  expect(shapeOf(tree)).toEqual(['self:root']);
});

test('a circle of parents is cut at its earliest span, with what hangs on it', () => {
  const circle = [
    headOf('a', [3, 9], { parentSpanId: 'c' }),
    headOf('b', [1, 9], { parentSpanId: 'a' }),
    headOf('c', [2, 9], { parentSpanId: 'b' }),
    headOf('leaf', [0, 1], { parentSpanId: 'c' }),
  ];
  const expected = ['b:cycle', ' c', '  leaf', '  a'];
  for (let seed = 0; seed < 10; seed += 1)
    expect(shapeOf(buildTree(shuffled(circle, seed)))).toEqual(expected);
});

test('two circles beside a root are each cut once', () => {
  const tree = buildTree([
    headOf('root', [5, 9]),
    headOf('a', [1, 9], { parentSpanId: 'b' }),
    headOf('b', [2, 9], { parentSpanId: 'a' }),
    headOf('c', [3, 9], { parentSpanId: 'd' }),
    headOf('d', [4, 9], { parentSpanId: 'c' }),
  ]);
  expect(shapeOf(tree)).toEqual(['a:cycle', ' b', 'c:cycle', ' d', 'root:root']);
});

test('of two reports of one span the later ended stands for both, in either order', () => {
  const early = headOf('same', [1, 4], { name: 'early' });
  const late = headOf('same', [1, 5], { name: 'late' });
  for (const spans of [
    [early, late],
    [late, early],
  ])
    expect(buildTree(spans).nodes.map(({ span }) => span.name)).toEqual(['late']);
});

test('of two reports that ended at once the order never decides', () => {
  const one = headOf('same', [1, 4], { name: 'one' });
  const failed = headOf('same', [1, 4], { name: 'failed', isError: true });
  const other = headOf('same', [1, 4], { name: 'other' });
  for (const spans of [
    [one, failed, other],
    [other, one, failed],
    [failed, other, one],
  ])
    expect(buildTree(spans).nodes.map(({ span }) => span.name)).toEqual(['failed']);
  const longer = headOf('same', [0, 4], { name: 'longer' });
  expect(buildTree([longer, one]).nodes[0]?.span).toBe(longer);
  expect(buildTree([one, longer]).nodes[0]?.span).toBe(longer);
  expect(buildTree([one, other]).nodes).toEqual(buildTree([other, one]).nodes);
});

test('children stand by start, of equal starts the longer first', () => {
  const tree = buildTree([
    headOf('late', [5, 6], { parentSpanId: 'root' }),
    headOf('short', [2, 3], { parentSpanId: 'root' }),
    headOf('long', [2, 9], { parentSpanId: 'root' }),
    headOf('root', [0, 9]),
  ]);
  expect(shapeOf(tree)).toEqual(['root:root', ' long', ' short', ' late']);
});

test('every span of any trace stands in the tree once, after its parent, in any order of arrival', () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const heads = randomTrace(seed);
    const tree = buildTree(heads);
    expect(new Set(tree.topDown).size).toBe(heads.length);
    expect(tree.nodes.map(({ index }) => index)).toEqual(heads.map((_, index) => index));
    const seen = new Set(tree.roots);
    for (const node of tree.topDown) for (const child of node.children) seen.add(child);
    expect(seen.size).toBe(heads.length);
    expect(tree.topDown.every(isAfterParent)).toBe(true);
    expect(shapeOf(buildTree(shuffled(heads, seed)))).toEqual(shapeOf(tree));
  }
});

test.each(['deep', 'wide', 'circular'])(
  '100,000 spans of a %s trace are put in a tree in linear time and without a stack',
  { timeout: 20_000 },
  (shape) => {
    const count = 100_000;
    const heads = Array.from({ length: count }, (_, at) =>
      headOf(`span-${at}`, [at, 2 * count - at], {
        parentSpanId: parentIn(shape, { at, count }),
      }),
    );
    expect(buildTree(heads.toReversed()).topDown).toHaveLength(count);
  },
);

function parentIn(shape: string, { at, count }: { at: number; count: number }): string | undefined {
  if (shape === 'circular') return `span-${(at + 1) % count}`;
  if (at === 0) return undefined;
  return shape === 'deep' ? `span-${at - 1}` : 'span-0';
}

function isAfterParent(node: TreeNode, at: number, topDown: readonly TreeNode[]): boolean {
  const { parent } = node;
  if (parent === undefined) return node.depth === 0;
  return topDown.indexOf(parent) < at && node.depth === parent.depth + 1;
}

/** The spans as an indented list, roots with their kind. */
function shapeOf(tree: SpanTree): string[] {
  const lines: string[] = [];
  const open = tree.roots.toReversed();
  for (let node = open.pop(); node; node = open.pop()) {
    const kind = node.rootKind === undefined ? '' : `:${node.rootKind}`;
    lines.push(`${' '.repeat(node.depth)}${node.span.spanId}${kind}`);
    open.push(...node.children.toReversed());
  }
  return lines;
}
