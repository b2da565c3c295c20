import { Type, type Static } from 'typebox';
import type { Flow, FlowEdge, FlowNode, Retry } from './flow.ts';

const retrySchema = Type.Object({
  enabled: Type.Optional(Type.Boolean({ default: true })),
  maxAttempts: Type.Optional(
    Type.Integer({ default: 3, description: 'all attempts, the first included; 1 to 20' }),
  ),
  backoff: Type.Optional(
    Type.Enum(['exponential', 'linear', 'fixed'], {
      default: 'exponential',
      description: 'how the wait grows from attempt to attempt',
    }),
  ),
  initialDelay: Type.Optional(
    Type.Integer({
      default: 1_000,
      description: 'milliseconds before the second attempt at least; chance adds up to a quarter',
    }),
  ),
  maxDelay: Type.Optional(
    Type.Integer({
      description: 'milliseconds that no wait exceeds, also where `Retry-After` asks for more',
    }),
  ),
});

/** A node as it is sent. */
export const nodeSchema = Type.Object({
  id: Type.String({ description: 'unique in the flow: letters, digits and _ - . :, at most 64' }),
  type: Type.String({ description: 'the name of a component' }),
  label: Type.Optional(Type.String({ maxLength: 200 })),
  position: Type.Optional(Type.Object({ x: Type.Number(), y: Type.Number() })),
  data: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'settings of the component; texts may hold Liquid placeholders: `{{ node.path }}`',
      },
    ),
  ),
  retry: Type.Optional(retrySchema),
  timeout: Type.Optional(
    Type.Integer({
      description:
        'milliseconds that one attempt may take; of a Loop or a Parallel all that it runs',
    }),
  ),
  onError: Type.Optional(
    Type.Enum(['fail', 'continue'], {
      default: 'fail',
      description: '`continue` goes on along the handle `error`',
    }),
  ),
});

/** An edge as it is sent. */
export const edgeSchema = Type.Object({
  source: Type.String(),
  target: Type.String(),
  sourceHandle: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'the edge is taken only when its source ends on this handle',
    }),
  ),
  targetHandle: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  condition: Type.Optional(
    Type.String({ description: 'CEL; the edge is taken only when it holds' }),
  ),
});

/** Settings of a flow as they are sent. */
export const settingsSchema = Type.Object({
  timeout: Type.Optional(Type.Integer({ minimum: 1, description: 'milliseconds' })),
  maxTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  maxCost: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'US dollars' })),
});

/**
 * A flow as it is sent. It says the shape only: what makes a flow a sound one, sizes included, is
 * said by `checkFlow`, which names every fault.
 */
export const flowSchema = Type.Object(
  {
    nodes: Type.Array(nodeSchema),
    edges: Type.Optional(Type.Array(edgeSchema)),
    settings: Type.Optional(settingsSchema),
  },
  { $id: 'Flow' },
);

/** A flow that fits `flowSchema`. */
export type FlowInput = Static<typeof flowSchema>;

/** One thing that is wrong with a flow, as it is answered. */
export const flowFaultSchema = Type.Object(
  {
    code: Type.String({ description: '`CYCLE`, `UNKNOWN_REFERENCE`, …' }),
    message: Type.String(),
    nodeId: Type.Optional(Type.String()),
    edge: Type.Optional(Type.Integer({ description: 'index in `edges`' })),
    path: Type.Optional(Type.String({ description: 'JSON pointer within the node’s `data`' })),
  },
  { $id: 'FlowFault' },
);

/** The flow with its defaults, and without fields that no flow has. */
export function readFlow({ nodes, edges = [], settings }: FlowInput): Flow {
  return {
    nodes: nodes.map(readNode),
    edges: edges.map(readEdge),
    ...(settings ? { settings: pick(settings, ['timeout', 'maxTokens', 'maxCost']) } : {}),
  };
}

type NodeInput = FlowInput['nodes'][number];
type EdgeInput = NonNullable<FlowInput['edges']>[number];

function readNode(node: NodeInput): FlowNode {
  const { id, type, position = { x: 0, y: 0 }, data = {}, retry } = node;
  return {
    id,
    type,
    ...pick(node, ['label']),
    position: { x: position.x, y: position.y },
    data: data as FlowNode['data'],
    ...(retry ? { retry: readRetry(retry) } : {}),
    ...pick(node, ['timeout', 'onError']),
  };
}

function readRetry(retry: NonNullable<NodeInput['retry']>): Retry {
  const { enabled = true, maxAttempts = 3, backoff = 'exponential', initialDelay = 1_000 } = retry;
  return { enabled, maxAttempts, backoff, initialDelay, ...pick(retry, ['maxDelay']) };
}

/** Editors write null for a handle that there is only one of. */
function readEdge({ source, target, sourceHandle, targetHandle, condition }: EdgeInput): FlowEdge {
  return {
    source,
    target,
    ...(typeof sourceHandle === 'string' ? { sourceHandle } : {}),
    ...(typeof targetHandle === 'string' ? { targetHandle } : {}),
    ...(condition === undefined ? {} : { condition }),
  };
}

function pick<Fields extends object, Name extends keyof Fields>(
  fields: Fields,
  names: readonly Name[],
): Pick<Fields, Name> {
  const picked: Partial<Fields> = {};
  for (const name of names) if (fields[name] !== undefined) picked[name] = fields[name];
  // Each name is there, or optional and absent.
  return picked as Pick<Fields, Name>;
}
