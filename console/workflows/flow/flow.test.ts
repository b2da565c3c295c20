import { describe, expect, test } from 'vitest';
import { toCanvas, toFlow } from './canvas-flow.ts';
import { refusalOf } from './connections.ts';
import {
  addEdge,
  addNode,
  changeNode,
  changeSetting,
  freeIdOf,
  removeNode,
  renameNode,
} from './edits.ts';
import type { Component, Flow } from './flow.ts';
import { handlesOf, plainHandle } from './handles.ts';
import { advance, redo, startHistory, undo } from './history.ts';
import { lacksPlaces, layOut } from './layout.ts';

function flowOf(ids: string, ...edges: string[]): Flow {
  return {
    nodes: ids.split(' ').map((id) => ({ id, type: id.startsWith('loop') ? 'Loop' : 'Transform' })),
    edges: edges.map((edge) => {
      const [source = '', target = ''] = edge.split('>');
      return { source, target };
    }),
  };
}

function componentOf(fields: Partial<Component>): Component {
  return {
    name: 'Transform',
    group: 'data',
    title: 'Transform',
    description: '',
    inputs: {},
    required: [],
    outputs: {},
    examples: [],
    handles: [],
    hasOwnHandles: false,
    effect: 'none',
    needsCallerToken: false,
    typicalMs: 1,
    ...fields,
  };
}

describe('A flow on the canvas', () => {
  const flow = {
    nodes: [
      { id: 'a', type: 'Wait', position: { x: 3, y: 4 }, data: { duration: 5 }, note: 'kept' },
      { id: 'b', type: 'Wait' },
    ],
    edges: [{ source: 'a', target: 'b', sourceHandle: null, condition: 'true', colour: 'red' }],
    settings: { timeout: 9 },
    author: 'somebody',
  };

  test('comes back as it was, with the fields that the canvas does not know', () => {
    expect(toFlow(toCanvas(flow), flow)).toEqual(flow);
    expect(toFlow(toCanvas({ nodes: flow.nodes }), { nodes: flow.nodes })).toEqual({
      nodes: flow.nodes,
    });
  });

  test('comes back with new places, and without what was taken away', () => {
    const { nodes, edges } = toCanvas(flow);
    const moved = nodes.map((node) => ({ ...node, position: { x: 10.4, y: 20 } }));
    expect(toFlow({ nodes: moved, edges }, flow).nodes[0]).toEqual({
      ...flow.nodes[0],
      position: { x: 10, y: 20 },
    });
    expect(toFlow({ nodes: nodes.slice(0, 1), edges: [] }, flow)).toEqual({
      ...flow,
      nodes: flow.nodes.slice(0, 1),
      edges: [],
    });
  });
});

describe('The layout', () => {
  const columnsOf = (flow: Flow) =>
    Object.fromEntries(layOut(flow).nodes.map(({ id, position }) => [id, position?.x]));

  test('puts each node behind all that lead to it, and on a place of its own', () => {
    const flow = flowOf('d b a c', 'a>b', 'a>c', 'b>d', 'c>d', 'a>d');
    const placed = layOut(flow);
    expect(columnsOf(flow)).toEqual({ a: 0, b: 290, c: 290, d: 580 });
    expect(lacksPlaces(flow)).toBe(true);
    expect(lacksPlaces(placed)).toBe(false);
  });

  test('is not led astray by loops and by edges to nowhere', () => {
    const flow = flowOf('loop a b end', 'loop>a', 'a>b', 'b>loop', 'loop>end', 'end>nowhere');
    expect(columnsOf(flow)).toEqual({ loop: 0, a: 290, b: 580, end: 290 });
  });

  test('keeps edges from crossing where it can', () => {
    const { nodes } = layOut(flowOf('a b x y', 'a>y', 'b>x'));
    const rows = Object.fromEntries(nodes.map(({ id, position }) => [id, position?.y ?? 0]));
    expect((rows['a'] ?? 0) < (rows['b'] ?? 0)).toBe((rows['y'] ?? 0) < (rows['x'] ?? 0));
  });
});

describe('An edge', () => {
  const components = new Map([['Transform', componentOf({})]]);
  const refused = (flow: Flow, edge: string, sourceHandle?: string) => {
    const [source = '', target = ''] = edge.split('>');
    return refusalOf(flow, { source, target, sourceHandle: sourceHandle ?? null }, components);
  };

  test('may join branches, and lead back to a Loop', () => {
    expect(refused(flowOf('a b c', 'a>b', 'a>c'), 'b>c')).toBeUndefined();
    expect(refused(flowOf('loop a', 'loop>a'), 'a>loop')).toBeUndefined();
  });

  test.each([
    ['a>a', 'a cannot lead to itself'],
    ['a>b', 'a leads to b already'],
    ['c>a', 'a leads to c: only a Loop may be led back to'],
  ])('%s is refused with its reason', (edge, reason) => {
    expect(refused(flowOf('a b c', 'a>b', 'b>c'), edge)).toBe(reason);
  });

  test('is refused on a handle that its source does not have', () => {
    expect(refused(flowOf('a b'), 'a>b', 'true')).toBe('a never ends on true');
  });
});

describe('The handles of a node', () => {
  const idsOf = (component: Component, node: Partial<Flow['nodes'][number]>, handle?: string) =>
    handlesOf({
      component,
      node: { id: 'a', type: component.name, ...node },
      edges: handle === undefined ? [] : [{ source: 'a', target: 'b', sourceHandle: handle }],
    }).map(({ id, isKnown }) => (isKnown ? id : `${id}?`));

  test('are one, or those that its component and its settings name', () => {
    expect(idsOf(componentOf({}), {})).toEqual([plainHandle]);
    expect(idsOf(componentOf({}), { onError: 'continue' })).toEqual([plainHandle, 'error']);
    expect(idsOf(componentOf({ handles: ['true', 'false'] }), {})).toEqual(['true', 'false']);
    const cases = [{ when: 'true', handle: 'x' }, { when: 'false' }, 7];
    const choice = componentOf({ handles: ['default'], hasOwnHandles: true });
    expect(idsOf(choice, { data: { cases, default: 'rest' } })).toEqual(['x', 'rest']);
  });

  test('include one that only an edge knows of', () => {
    expect(idsOf(componentOf({}), {}, 'gone')).toEqual([plainHandle, 'gone?']);
  });
});

describe('Edits', () => {
  test('give new nodes ids that read well, and none that means something else', () => {
    expect(freeIdOf(flowOf('a'), 'LLMNode')).toBe('llm');
    expect(freeIdOf(flowOf('a'), 'MCPToolCall')).toBe('mcpToolCall');
    expect(freeIdOf(flowOf('wait wait2'), 'Wait')).toBe('wait3');
    expect(freeIdOf(flowOf('a'), 'Loop')).toBe('loop2');
  });

  test('take a setting and a label away where they are undefined', () => {
    const flow = addNode(
      { nodes: [] },
      { id: 'a', type: 'Wait', label: 'x', data: { a: 1, b: 2 } },
    );
    expect(changeSetting(flow, 'a', { name: 'a', value: undefined }).nodes[0]?.data).toEqual({
      b: 2,
    });
    expect(changeNode(flow, 'a', { label: undefined }).nodes[0]).not.toHaveProperty('label');
  });

  test('have edges follow a node that is renamed, and go with one that is removed', () => {
    const flow = addEdge(flowOf('a b', 'a>b'), { source: 'b', target: 'a', condition: 'false' });
    expect(renameNode(flow, 'a', 'z').edges).toEqual([
      { source: 'z', target: 'b' },
      { source: 'b', target: 'z', condition: 'false' },
    ]);
    expect(removeNode(flow, 'a')).toEqual({ nodes: [{ id: 'b', type: 'Transform' }], edges: [] });
  });
});

describe('The history', () => {
  test('goes back and forth, and forgets what was undone once something else is done', () => {
    const typed = advance(advance(startHistory('a'), 'ab'), 'abc');
    expect(undo(typed).present).toBe('ab');
    expect(redo(undo(typed))).toEqual({ ...typed, topic: undefined });
    expect(redo(advance(undo(typed), 'x')).present).toBe('x');
    expect(undo(startHistory('a')).present).toBe('a');
  });

  test('undoes steps about the same at once', () => {
    const typed = advance(advance(startHistory(''), 'a', 'text'), 'ab', 'text');
    expect(undo(typed).present).toBe('');
    expect(undo(advance(typed, 'abc', 'other')).present).toBe('ab');
  });
});
