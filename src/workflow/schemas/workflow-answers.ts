import { Type } from 'typebox';
import { complexities, workflowStatuses } from '../definitions/workflow.ts';
import { flowSchema } from '../flow/schema.ts';

const timestamp = Type.String({ format: 'date-time' });

/** One line of text that is not blank, or any where `minLength` is 0. */
export function line(maxLength: number, description: string, minLength = 1) {
  const isSaid = minLength === 0 ? '' : '(?=.*\\S)';
  return Type.String({
    minLength,
    maxLength,
    // Half a character is refused too: the database takes none.
    pattern: `^${isSaid}(?:[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$`,
    description: `${description}: one line of text`,
  });
}

/** Several lines of text. */
export function lines(maxLength: number, description: string) {
  return Type.String({
    maxLength,
    pattern: '^(?:[^\\u0000\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$',
    description,
  });
}

export const workflowParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 128, description: 'as its listing answers it' }),
});

export const complexity = Type.Enum(complexities, {
  description:
    'a point for every node, one more for each that acts on the world, three for a loop, a parallel and each that waits or starts another workflow, one for every edge that is taken only sometimes: `simple` up to 6, `intermediate` up to 16',
});

export const status = Type.Enum(workflowStatuses, {
  description: '`draft`: never published; `archived`: takes no new executions',
});

const workflowFields = {
  id: Type.String(),
  name: Type.String(),
  status,
  version: Type.Integer({
    description: 'the one that new executions run; of a draft its newest one',
  }),
  createdAt: timestamp,
  endpoints: Type.Object({
    execute: Type.String({ description: 'a path' }),
    monitor: Type.String({ description: 'a path: its executions' }),
  }),
  description: Type.String(),
  category: Type.String(),
  tags: Type.Array(Type.String()),
  ownerId: Type.String(),
  latestVersion: Type.Integer({ description: 'the newest one, published or a draft' }),
  revision: Type.Integer({ description: 'counts changes: the number in `ETag` and `If-Match`' }),
  components: Type.Integer({ description: 'its nodes' }),
  complexity,
  templateId: Type.Optional(Type.String({ description: 'what it was made from' })),
  updatedAt: timestamp,
};

/** A workflow without its flow. */
export const workflowAnswer = Type.Object(workflowFields, { $id: 'Workflow' });

/** The same with a flow. */
export const workflowWithFlow = Type.Object(
  {
    ...workflowFields,
    flowVersion: Type.Integer({ description: 'the version that `flow` is' }),
    flow: flowSchema,
  },
  { $id: 'WorkflowWithFlow' },
);

export const versionAnswer = Type.Object(
  {
    version: Type.Integer(),
    status: Type.Enum(['draft', 'published']),
    isCurrent: Type.Boolean({ description: 'whether new executions run it' }),
    components: Type.Integer(),
    complexity,
    createdBy: Type.String(),
    createdAt: timestamp,
    publishedAt: Type.Optional(timestamp),
  },
  { $id: 'WorkflowVersion' },
);

const edge = Type.Object({
  source: Type.String(),
  target: Type.String(),
  sourceHandle: Type.Optional(Type.String()),
  targetHandle: Type.Optional(Type.String()),
  condition: Type.Optional(Type.String()),
});

export const diffAnswer = Type.Object(
  {
    from: Type.Integer(),
    to: Type.Integer(),
    nodes: Type.Object({
      added: Type.Array(Type.String({ description: 'ids' })),
      removed: Type.Array(Type.String()),
      changed: Type.Array(
        Type.Object({
          nodeId: Type.String(),
          fields: Type.Array(Type.String({ description: '`type`, `data.prompt`, `retry`, …' })),
        }),
      ),
    }),
    edges: Type.Object({ added: Type.Array(edge), removed: Type.Array(edge) }),
    settingsChanged: Type.Boolean(),
  },
  { $id: 'WorkflowDiff' },
);

export const catalogItem = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    complexity,
    components: Type.Integer({ description: 'its nodes' }),
    estimatedDuration: Type.Integer({
      description: 'milliseconds: as measured, else what its components take as a rule',
    }),
    tags: Type.Array(Type.String()),
    version: Type.Integer(),
    builtIn: Type.Boolean(),
  },
  { $id: 'CatalogItem' },
);

export const templateAnswer = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    components: Type.Integer({ description: 'its nodes' }),
    usageCount: Type.Integer({ description: 'how often it was run or made a workflow of' }),
    complexity,
    tags: Type.Array(Type.String()),
    inputs: Type.Array(
      Type.Object({
        name: Type.String({ description: 'a key of `inputs`' }),
        description: Type.String(),
        example: Type.Unknown(),
      }),
    ),
    flow: flowSchema,
  },
  { $id: 'WorkflowTemplate' },
);
