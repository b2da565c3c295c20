import { Type, type TSchema } from 'typebox';
import type { Component, ComponentTable } from '../components/component.ts';
import type { Flow, FlowEdge, FlowNode, Scope } from './flow.ts';
import { AnyKey } from '../../kit/any-key.ts';

function component(name: string, input: TSchema, extra: Partial<Component> = {}): Component {
  return {
    name,
    group: 'logic',
    title: name,
    description: name,
    input,
    output: Type.Unknown(),
    effect: 'none',
    typicalMs: 1,
    run: async (data) => ({ kind: 'done', output: data }),
    ...extra,
  };
}

const cel = Type.Union([Type.String({ minLength: 1 }), Type.Boolean()], { 'x-ennead': 'cel' });
const anything = Type.Object({}, { additionalProperties: true });

/** A few components for tests of flows: each gives its settings back. */
export const testComponents: ComponentTable = new Map(
  [
    component('Step', anything),
    component(
      'Model',
      Type.Object({
        prompt: Type.String({ minLength: 1 }),
        temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
        tags: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Integer()]))),
      }),
    ),
    component(
      'Join',
      Type.Object({
        inputs: Type.Union([
          Type.Record(AnyKey, Type.Unknown()),
          Type.Array(Type.Unknown(), { 'x-ennead': 'dense' }),
        ]),
      }),
    ),
    component('Code', Type.Object({ code: Type.String({ 'x-ennead': 'code' }) })),
    component('If', Type.Object({ condition: cel }), { handles: ['true', 'false'] }),
    component(
      'Switch',
      Type.Object({ cases: Type.Array(Type.Object({ when: cel, handle: Type.String() })) }),
      {
        handles: ({ cases }) => [
          'default',
          ...(cases as readonly { handle: string }[]).map((one) => one.handle),
        ],
      },
    ),
    component('Loop', Type.Object({ items: Type.Array(Type.Unknown()) }), {
      control: 'loop',
      handles: ['body', 'done'],
    }),
    component('Parallel', Type.Object({}), { control: 'parallel' }),
  ].map((one) => [one.name, one]),
);

/** A node of a test flow: `Step` unless its id says `Loop…` or `Parallel…`. */
export function testNode(
  id: string,
  data: Readonly<Record<string, unknown>> = {},
  more: Partial<FlowNode> = {},
): FlowNode {
  const [, control = 'Step'] = /^(Loop|Parallel)/.exec(id) ?? [];
  const items = control === 'Loop' && data.items === undefined ? { items: [1, 2] } : {};
  return { id, type: control, data: { ...data, ...items }, ...more };
}

/** A flow of paths such as `a > b > c`; nodes that are not given are made with `testNode`. */
export function testFlow(paths: readonly string[], given: readonly FlowNode[] = []): Flow {
  const nodes = new Map(given.map((node) => [node.id, node]));
  const edges: FlowEdge[] = [];
  for (const path of paths) {
    const ids = path.split('>').map((id) => id.trim());
    for (const id of ids) if (!nodes.has(id)) nodes.set(id, testNode(id));
    for (const [index, target] of ids.slice(1).entries()) {
      edges.push({ source: ids[index] ?? '', target });
    }
  }
  return { nodes: [...nodes.values()], edges };
}

/** What expressions see in a test. */
export function testScope(nodes: Scope['nodes'] = {}, more: Partial<Scope> = {}): Scope {
  return { nodes, inputs: {}, execution: { id: 'exe_1', workflowId: 'wfl_1' }, ...more };
}
