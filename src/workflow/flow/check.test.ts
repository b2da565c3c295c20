import { describe, expect, it } from 'vitest';
import { checkFlow } from './check.ts';
import type { Flow, FlowNode } from './flow.ts';
import { readFlow } from './schema.ts';
import { testComponents, testFlow, testNode } from './testing.ts';

const check = (flow: Flow) => checkFlow(flow, testComponents);
const codes = (flow: Flow) => check(flow).map(({ code }) => code);
const withB = (data: FlowNode['data'], more: Partial<FlowNode> = {}) =>
  testFlow(['a > b'], [testNode('a'), testNode('b', data, more)]);

describe('a flow that is too large', () => {
  it('is told so without being looked through', () => {
    const nodes = Array.from({ length: 10_000 }, (_, index) => testNode(`n${index}`));
    const { flow, readCount } = countReads({ nodes, edges: [] });
    expect(codes(flow)).toEqual(['TOO_LARGE']);
    expect(readCount()).toBe(0);
    const edges = Array.from({ length: 6_000 }, () => ({ source: 'a', target: 'b' }));
    expect(codes({ nodes: [testNode('a')], edges })).toEqual(['TOO_LARGE']);
    expect(codes(withB({ text: 'x'.repeat(300_000) }))).toEqual(['TOO_LARGE']);
    let deep: unknown = 1;
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
    expect(codes(withB({ deep }))).toEqual(['TOO_LARGE']);
    const heavy = Array.from({ length: 5 }, (_, index) =>
      testNode(`n${index}`, { text: 'x'.repeat(250_000) }),
    );
    expect(codes({ nodes: heavy, edges: [] })).toEqual(['TOO_LARGE']);
  });

  it('is taken just below that, each step and edge read no oftener than in a small one', () => {
    const [small, large] = [100, 1_000].map((count) => {
      const { flow, readCount } = countReads(crossedFlow(count));
      expect(check(flow)).toEqual([]);
      return readCount() / (flow.nodes.length + flow.edges.length);
    });
    expect(large).toBeLessThan((small ?? 0) * 1.1);
  });
});

/** Steps that each lead to the next five, with more ways through them than could ever be walked. */
function crossedFlow(count: number): Flow {
  const nodes = Array.from({ length: count }, (_, index) =>
    testNode(`n${index}`, index > 0 ? { text: `{{ n${index - 1}.x }} and {{ n0.y }}` } : {}),
  );
  const edges = nodes.slice(1).flatMap(({ id }, index) =>
    Array.from({ length: Math.min(5, index + 1) }, (_, back) => ({
      source: `n${index - back}`,
      target: id,
    })),
  );
  return { nodes, edges };
}

/** The same flow, and how often something of its nodes and edges has been read. */
function countReads(flow: Flow) {
  let count = 0;
  const counted = <Item extends object>(item: Item): Item =>
    new Proxy(item, {
      get: (target, key, receiver) => {
        count += 1;
        return Reflect.get(target, key, receiver);
      },
    });
  const { nodes, edges } = flow;
  const watched: Flow = { nodes: nodes.map(counted), edges: edges.map(counted) };
  return { flow: watched, readCount: () => count };
}

describe('faults', () => {
  it('are all told', () => {
    const flow: Flow = {
      nodes: [
        testNode('a'),
        testNode('a'),
        testNode('__proto__'),
        testNode('has blank'),
        testNode('b', { prompt: '', temperature: 3 }, { type: 'Model' }),
        testNode('c', {}, { type: 'Nothing' }),
        testNode('d', { t: '{{ gone.x }}{{ e.x }}', c: '{{ broken' }),
        testNode(
          'e',
          {},
          {
            timeout: 0,
            retry: { enabled: true, maxAttempts: 99, backoff: 'fixed', initialDelay: -1 },
          },
        ),
      ],
      edges: [
        { source: 'a', target: 'nowhere' },
        { source: 'a', target: 'd' },
        { source: 'a', target: 'd' },
        { source: 'a', target: 'e', sourceHandle: 'true' },
        { source: 'd', target: 'e', condition: '1 +' },
      ],
    };
    expect(codes(flow).toSorted()).toEqual(
      [
        'DUPLICATE_NODE',
        'BAD_ID',
        'BAD_ID',
        'BAD_SETTING',
        'BAD_SETTING',
        'UNKNOWN_COMPONENT',
        'UNKNOWN_REFERENCE',
        'UNKNOWN_REFERENCE',
        'BAD_EXPRESSION',
        'BAD_TIMEOUT',
        'BAD_RETRY',
        'BAD_RETRY',
        'DANGLING_EDGE',
        'DUPLICATE_EDGE',
        'UNKNOWN_HANDLE',
        'BAD_EXPRESSION',
      ].toSorted(),
    );
  });

  it('are told of a node whose component is unknown, and of one whose id another has', () => {
    const unread = { text: '{{ nowhere }}' };
    const flow = {
      nodes: [
        testNode('a', unread, { type: 'No' }),
        testNode('b'),
        testNode('b', { text: '{{ neither }}' }),
        testNode('b', unread, { type: 'Nor' }),
      ],
      edges: [],
    };
    expect(check(flow).map(({ code, nodeId }) => [code, nodeId])).toEqual([
      ['DUPLICATE_NODE', 'b'],
      ['DUPLICATE_NODE', 'b'],
      ['UNKNOWN_COMPONENT', 'a'],
      ['UNKNOWN_COMPONENT', 'b'],
      ['UNKNOWN_REFERENCE', 'a'],
      ['UNKNOWN_REFERENCE', 'b'],
      ['UNKNOWN_REFERENCE', 'b'],
    ]);
  });

  it.each(['inputs', 'nodes', 'execution'])('refuse a node called %s', (id) => {
    expect(check(testFlow(['a'], [testNode(id)]))).toEqual([
      {
        code: 'BAD_ID',
        message: `an id may not be ${id}: placeholders and conditions mean something else by it`,
        nodeId: id,
      },
    ]);
  });

  it('name their places', () => {
    const faults = check(withB({ list: [{ 'x/y': '{{ nowhere }}' }] }));
    expect(faults).toEqual([
      {
        code: 'UNKNOWN_REFERENCE',
        message: 'there is no node, input or variable "nowhere"',
        nodeId: 'b',
        path: '/list/0/x~1y',
      },
    ]);
  });

  it('are listed up to a number', () => {
    const nodes = Array.from({ length: 900 }, (_, index) =>
      testNode(`n${index}`, {}, { type: 'No' }),
    );
    const faults = check({ nodes, edges: [] });
    expect(faults).toHaveLength(201);
    expect(faults.at(-1)?.message).toBe('700 further faults are not listed');
  });

  it('are told of a flow without nodes', () => {
    expect(codes({ nodes: [], edges: [] })).toEqual(['EMPTY_FLOW']);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('are told of a setting called %s', (name) => {
    const data = JSON.parse(`{"a": [{"${name}": {"x": 1}}]}`) as FlowNode['data'];
    expect(codes(withB(data))).toEqual(['BAD_KEY']);
  });
});

describe('settings', () => {
  it.each([
    [{ prompt: '{{ a.x }}', temperature: '{{ a.t }}', tags: ['{{ a.x }}', 'b'] }, []],
    [{ prompt: 'x', tags: '{{ a.tags }}' }, []],
    [{}, []],
    [{ prompt: 'x', temperature: 'hot' }, ['BAD_SETTING']],
    [{ prompt: 'x', tags: ['{{ a.x }}', true] }, ['BAD_SETTING']],
    [{ prompt: 7 }, ['BAD_SETTING']],
  ])('%j', (data, expected) => {
    expect(codes(withB(data, { type: 'Model' }))).toEqual(expected);
  });

  it.each([
    ['a.x > 1', []],
    ['{{ a.x }} > 1', ['BAD_EXPRESSION']],
    ['a.x >', ['BAD_EXPRESSION']],
    ['1 + 1', ['BAD_EXPRESSION']],
    ['b.x > 1', ['UNKNOWN_REFERENCE']],
    ['gone.x > 1', ['UNKNOWN_REFERENCE']],
  ])('a condition: %s', (condition, expected) => {
    expect(codes(withB({ condition }, { type: 'If' }))).toEqual(expected);
  });
});

describe('handles', () => {
  const along = (sourceHandle: string, more: Partial<FlowNode> = {}) => {
    const flow = testFlow(['a > b'], [testNode('a', { condition: true }, { type: 'If', ...more })]);
    return codes({ ...flow, edges: [{ source: 'a', target: 'b', sourceHandle }] });
  };

  it('must be those of the component', () => {
    expect(along('true')).toEqual([]);
    expect(along('maybe')).toEqual(['UNKNOWN_HANDLE']);
    expect(along('error')).toEqual(['UNKNOWN_HANDLE']);
    expect(along('error', { onError: 'continue' })).toEqual([]);
    const data = { cases: [{ when: 'inputs.x == 1', handle: 'one' }] };
    expect(along('one', { type: 'Switch', data })).toEqual([]);
    expect(along('two', { type: 'Switch', data })).toEqual(['UNKNOWN_HANDLE']);
  });

  it('tell the body of a Loop from what comes after it', () => {
    const flow = testFlow(['Loop > b > Loop > end']);
    const edges = (body: string, done: string) =>
      flow.edges.map((edge) => {
        if (edge.source !== 'Loop') return edge;
        return { ...edge, sourceHandle: edge.target === 'b' ? body : done };
      });
    expect(codes({ ...flow, edges: edges('body', 'done') })).toEqual([]);
    const misled = check({ ...flow, edges: edges('done', 'body') });
    expect(misled.map(({ code, edge }) => [code, edge])).toEqual([
      ['UNKNOWN_HANDLE', 0],
      ['UNKNOWN_HANDLE', 2],
    ]);
    expect(misled.map(({ message }) => message)).toEqual([
      'b lies in the body of the Loop Loop, as a way leads from it back to Loop: the edge on done must lead out of the body',
      'end does not lie in the body of the Loop Loop: no way leads from it back to Loop',
    ]);
  });

  it('say where the edge for failures of a Loop may lead, and what makes a node end on it', () => {
    const { nodes, edges } = testFlow(['Loop > b > Loop']);
    const failing = { source: 'Loop', target: 'b', sourceHandle: 'error' };
    const flow = (onError: 'continue' | 'fail') => ({
      nodes: nodes.map((node) => (node.id === 'Loop' ? { ...node, onError } : node)),
      edges: [...edges, failing],
    });
    const [into] = check(flow('continue'));
    expect(into?.message).toMatch(/^b lies in the body of .* the edge on error must lead out of/);
    const [without] = check(flow('fail'));
    expect(without?.message).toBe(
      'Loop never ends on the handle "error"; it does with "onError": "continue"',
    );
  });
});

describe('loops', () => {
  it.each([
    ['a cycle', ['a > b > c > a'], ['CYCLE']],
    ['a node that leads to itself', ['a > a'], ['CYCLE']],
    [
      'a cycle and what lies behind it',
      ['a > b > a', 'b > c > d'],
      ['CYCLE', 'UNREACHABLE_NODE', 'UNREACHABLE_NODE'],
    ],
    ['a cycle within a body', ['Loop > a > b > a', 'b > Loop'], ['CYCLE']],
    ['a Loop without a body', ['a > Loop > b'], ['LOOP_WITHOUT_BODY']],
    ['a Loop that leads to itself', ['Loop > Loop'], ['LOOP_WITHOUT_BODY']],
    ['a way into a body', ['x > Loop > a > b > Loop', 'x > b'], ['LOOP_ENTRY']],
    ['a way out of a body', ['Loop > a > b > Loop', 'a > out'], ['LOOP_EXIT']],
    [
      'a way from body to body',
      ['Loop1 > a > Loop1', 'Loop2 > b > Loop2', 'a > b'],
      ['LOOP_EXIT', 'LOOP_ENTRY'],
    ],
    [
      'loops across each other',
      ['x > Loop1 > a > Loop2 > b > Loop1', 'b > Loop2', 'a > b'],
      ['LOOP_EXIT', 'LOOP_ENTRY'],
    ],
    ['loops in each other', ['Loop1 > Loop2 > a > Loop2 > b > Loop1 > end'], []],
    ['loops in each other, entered', ['x > Loop1 > Loop2 > a > Loop2 > Loop1 > end'], []],
    ['two loops in a row', ['Loop1 > a > Loop1 > Loop2 > b > Loop2'], []],
    ['branches in a body', ['Loop > a > c > Loop', 'Loop > b > c', 'b > Loop'], []],
  ])('%s', (_name, paths, expected) => {
    expect(codes(testFlow(paths)).toSorted()).toEqual(expected.toSorted());
  });

  it('lie within each other up to a depth', () => {
    const path = (depth: number) => {
      const loops = Array.from({ length: depth }, (_, index) => `Loop${index}`);
      return [[...loops, 'x', ...loops.toReversed()].join(' > ')];
    };
    expect(codes(testFlow(path(8)))).toEqual([]);
    expect(codes(testFlow(path(10)))).toContain('LOOP_TOO_DEEP');
  });
});

describe('references', () => {
  it.each([
    ['to what comes before', ['a > m > b'], '{{ a.x }}{{ m.x }}', []],
    ['to what comes later', ['b > a'], '{{ a.x }}', ['UNKNOWN_REFERENCE']],
    ['to what lies beside', ['r > a', 'r > b'], '{{ a.x }}', ['UNKNOWN_REFERENCE']],
    ['to itself', ['a > b'], '{{ b.x }}', ['UNKNOWN_REFERENCE']],
    ['to a round outside of loops', ['a > b'], '{{ loop.item }}', ['UNKNOWN_REFERENCE']],
    ['to a node called loop', ['loop > b'], '{{ loop.item }}{{ loop.text }}', []],
    ['to one that comes later', ['b > loop'], '{{ loop.text }}', ['UNKNOWN_REFERENCE']],
    ['to one within a Loop', ['loop > Loop > b > Loop'], '{{ nodes.loop.text }}', []],
    [
      'to a round as the node',
      ['loop > Loop > b > Loop'],
      '{{ loop.text }}',
      ['UNKNOWN_REFERENCE'],
    ],
    ['to a round', ['a > Loop > b > Loop'], '{{ loop.item.x }}{{ a.x }}', []],
    ['to what came before in the body', ['Loop > a > b > Loop'], '{{ a.x }}', []],
    [
      'to what comes later in the body',
      ['Loop > b > a > Loop'],
      '{{ a.x }}',
      ['UNKNOWN_REFERENCE'],
    ],
    ['to its own Loop', ['Loop > b > Loop'], '{{ Loop.results }}', ['UNKNOWN_REFERENCE']],
    ['to a Loop that has ended', ['Loop > a > Loop > b'], '{{ Loop.results }}', []],
    ['into a body', ['Loop > a > Loop > b'], '{{ a.x }}', ['UNKNOWN_REFERENCE']],
    [
      'to a Loop within the body that has ended',
      ['Loop1 > Loop2 > a > Loop2 > b > Loop1'],
      '{{ Loop2.results }}',
      [],
    ],
    [
      'from an inner body to the outer',
      ['Loop1 > a > Loop2 > b > Loop2 > c > Loop1'],
      '{{ a.x }}',
      [],
    ],
    [
      'to a Parallel that has ended',
      ['Parallel > a > b', 'Parallel > c > b'],
      '{{ Parallel.results }}',
      [],
    ],
    [
      'to a Parallel that waits for it',
      ['Parallel > b > c'],
      '{{ Parallel.results }}',
      ['UNKNOWN_REFERENCE'],
    ],
    [
      'to a Parallel that waits for what follows',
      ['Parallel > a > b > c', 'Parallel > c'],
      '{{ Parallel.results }}',
      ['UNKNOWN_REFERENCE'],
    ],
  ])('%s', (_name, paths, text, expected) => {
    expect(codes(testFlow(paths, [testNode('b', { text })]))).toEqual(expected);
  });

  it.each([
    ['a > b', 'a.x == 1', []],
    ['a > b', 'b.x == 1', ['UNKNOWN_REFERENCE']],
    ['Loop > b > Loop', 'loop.index > 0', []],
    ['Loop > b > Loop', 'Loop.count > 0', ['UNKNOWN_REFERENCE']],
    ['Loop > b > Loop > c', 'Loop.count > 0', ['UNKNOWN_REFERENCE']],
    ['Parallel > b', 'size(Parallel.results) > 0', ['UNKNOWN_REFERENCE']],
  ])('of the first edge of %s: %s', (path, condition, expected) => {
    const flow = testFlow([path]);
    const edges = flow.edges.map((edge, index) => (index === 0 ? { ...edge, condition } : edge));
    expect(codes({ ...flow, edges })).toEqual(expected);
  });
});

describe('a flow as it is sent', () => {
  it('gets its defaults and loses what no flow has', () => {
    const sent = {
      nodes: [{ id: 'a', type: 'Step', retry: { maxAttempts: 2 }, selected: true, data: { x: 1 } }],
      edges: [{ id: 'e', source: 'a', target: 'a', sourceHandle: null }],
      viewport: {},
    };
    expect(readFlow(sent)).toEqual({
      nodes: [
        {
          id: 'a',
          type: 'Step',
          position: { x: 0, y: 0 },
          data: { x: 1 },
          retry: { enabled: true, maxAttempts: 2, backoff: 'exponential', initialDelay: 1_000 },
        },
      ],
      edges: [{ source: 'a', target: 'a' }],
    });
  });
});
