import { Type } from 'typebox';
import { pageAnswer } from '../../kit/paging.ts';

/** RFC 3339, UTC. */
export const timestamp = Type.String({ format: 'date-time' });
/** A duration. */
export const milliseconds = Type.Integer({ description: 'milliseconds' });
/** Whatever fields it has. */
export const anyObject = Type.Object({}, { additionalProperties: true });

const nodeError = Type.Object({
  nodeId: Type.String({ description: 'empty when no node is to blame' }),
  attempt: Type.Integer(),
  message: Type.String(),
  code: Type.String({ description: '`MODEL_TIMEOUT`, `BUDGET_EXCEEDED`, `WORKFLOW_TIMEOUT`, …' }),
});

/** How a node stands. */
export const nodeStatuses = [
  'running',
  'waiting',
  'completed',
  'failed',
  'skipped',
  'cancelled',
] as const;

const nodeStatus = Type.Object(
  {
    nodeId: Type.String(),
    status: Type.Enum([...nodeStatuses]),
    iteration: Type.Optional(
      Type.String({ description: 'in loops: the rounds from the outermost on, `3` or `3.0`' }),
    ),
    attempt: Type.Integer(),
    startedAt: timestamp,
    duration: Type.Optional(milliseconds),
    modelUsed: Type.Optional(Type.String()),
    tokensUsed: Type.Optional(Type.Integer()),
    cost: Type.Optional(Type.Number({ description: 'US dollars' })),
    entityCreated: Type.Optional(anyObject),
    output: Type.Optional(Type.Unknown()),
    error: Type.Optional(Type.Object({ message: Type.String(), code: Type.String() })),
    wakeAt: Type.Optional(timestamp),
    detail: Type.Optional(anyObject),
  },
  { $id: 'NodeStatus' },
);

const executionFields = {
  executionId: Type.String(),
  workflowId: Type.String(),
  version: Type.Integer(),
  status: Type.Enum(['running', 'completed', 'failed', 'cancelled'], {
    description: '`running` as long as it has not ended, also while it is queued or waits',
  }),
  trigger: Type.String(),
  startedAt: timestamp,
  completedAt: Type.Optional(timestamp),
  duration: Type.Optional(milliseconds),
  tokensUsed: Type.Integer(),
  cost: Type.Number({ description: 'US dollars' }),
  error: Type.Optional(nodeError),
  retryable: Type.Optional(Type.Boolean({ description: 'whether the same again may end better' })),
  batch: Type.Optional(Type.Object({ id: Type.String(), index: Type.Integer() })),
};

/** An execution in a listing. */
export const executionSummary = Type.Object(executionFields, { $id: 'ExecutionSummary' });

/** How an execution and its nodes stand. */
export const executionStatus = Type.Object(
  {
    ...executionFields,
    nodes: Type.Array(nodeStatus, {
      maxItems: 1_000,
      description: 'in the order of their start; the newest of them where there is `nodesTotal`',
    }),
    nodesTotal: Type.Optional(
      Type.Integer({
        description:
          'how many nodes there are, where `nodes` has not all: of more than 1,000, or outputs of more than 8 MiB, the rest is at `/nodes`',
      }),
    ),
    result: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'outputs of the ends, by node id' },
      ),
    ),
  },
  { $id: 'ExecutionStatus' },
);

/** An execution that was started, or goes on. */
export const executionStarted = Type.Object(
  {
    executionId: Type.String(),
    workflowId: Type.String(),
    status: Type.String({ description: '`running`' }),
    startedAt: timestamp,
    monitorUrl: Type.String({ description: 'a WebSocket address' }),
  },
  { $id: 'ExecutionStarted' },
);

/** A page of executions. */
export const executionList = Type.Object(
  {
    executions: Type.Array(executionSummary),
    ...pageAnswer,
  },
  { $id: 'ExecutionList' },
);

/** A page of the nodes of an execution. */
export const nodeList = Type.Object(
  {
    nodes: Type.Array(nodeStatus, { maxItems: 100 }),
    ...pageAnswer,
  },
  { $id: 'NodeList' },
);
