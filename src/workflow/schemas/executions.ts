import { Type } from 'typebox';
import type { Route, SocketRoute } from '../../kit/contract.ts';
import { subscribeFields } from '../../kit/sockets/subscription.ts';
import { mayExecute, mayFollow, mayRead } from './access.ts';
import { budgetFields } from './budget.ts';
import {
  anyObject,
  executionList,
  executionStarted,
  executionStatus,
  milliseconds,
  nodeList,
  nodeStatuses,
  timestamp,
} from './execution-answers.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageQuery } from '../../kit/paging.ts';

const id = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,128}$',
  description: 'up to 128 letters, digits, underscores and hyphens',
});
const status = Type.Optional(
  Type.Enum(['running', 'completed', 'failed', 'cancelled'], {
    description: 'only executions that stand so',
  }),
);

const approval = Type.Object({
  approved: Type.Boolean(),
  comment: Type.Optional(Type.String({ maxLength: 10_000 })),
});

const approvalAnswer = Type.Object({
  executionId: Type.String(),
  nodeId: Type.String(),
  approved: Type.Boolean(),
});

const token = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'of the link that the approver was sent',
  }),
});

/** Executions: how they stand, and what may be done with them. */
export const executionRoutes = {
  listExecutions: {
    method: 'GET',
    url: '/api/v1/executions',
    summary: 'List executions, newest first',
    description: 'One’s own; those of everybody with `workflow:admin`.',
    permission: mayRead,
    schema: {
      query: Type.Object({ workflowId: Type.Optional(id), status, ...pageQuery() }),
      response: { 200: executionList },
    },
  },
  listWorkflowExecutions: {
    method: 'GET',
    url: '/api/v1/workflows/:workflowId/executions',
    summary: 'List the executions of a workflow, newest first',
    permission: mayRead,
    schema: {
      params: Type.Object({ workflowId: id }),
      query: Type.Object({ status, ...pageQuery() }),
      response: { 200: executionList },
    },
  },
  readExecution: {
    method: 'GET',
    url: '/api/v1/executions/:executionId',
    summary: 'Say how an execution and its nodes stand',
    permission: mayFollow,
    schema: {
      params: Type.Object({ executionId: id }),
      query: Type.Object({
        wait: Type.Integer({
          minimum: 0,
          maximum: 60,
          default: 0,
          description: 'seconds to wait for its end',
        }),
      }),
      response: { 200: executionStatus },
    },
  },
  listNodes: {
    method: 'GET',
    url: '/api/v1/executions/:executionId/nodes',
    summary: 'List the nodes of an execution in the order of their start, rounds of loops each',
    description:
      'A page has fewer than `limit` where their outputs come to more than 8 MiB: the next begins at `offset` and as many as there were.',
    permission: mayFollow,
    schema: {
      params: Type.Object({ executionId: id }),
      query: Type.Object({
        status: Type.Optional(
          Type.Enum([...nodeStatuses], { description: 'only nodes that stand so' }),
        ),
        nodeId: Type.Optional(
          Type.String({ minLength: 1, maxLength: 64, description: 'only this node' }),
        ),
        iteration: Type.Optional(
          Type.String({ maxLength: 128, description: '`3` or `3.0`; empty outside of loops' }),
        ),
        ...pageQuery(),
      }),
      response: { 200: nodeList },
    },
  },
  cancelExecution: {
    method: 'POST',
    url: '/api/v1/executions/:executionId/cancel',
    summary: 'Call an execution off',
    description: 'Nodes that run are aborted. 409 `already_ended` when it has ended.',
    permission: mayExecute,
    schema: { params: Type.Object({ executionId: id }), response: { 200: executionStatus } },
  },
  resumeExecution: {
    method: 'POST',
    url: '/api/v1/executions/:executionId/resume',
    summary: 'Go on with an execution that failed or was cancelled',
    description:
      'What was finished is kept; what failed is run again with the same idempotency keys; a workflow within goes on likewise where its failure is retryable or it was cancelled, and else starts anew. 409 `not_resumable` otherwise, and 409 `budget_exceeded` where more is used than its budget has: the body replaces that, within the settings of the flow.',
    permission: mayExecute,
    schema: {
      params: Type.Object({ executionId: id }),
      body: Type.Object(budgetFields),
      response: { 202: executionStarted },
    },
  },
  rerunExecution: {
    method: 'POST',
    url: '/api/v1/executions/:executionId/rerun',
    summary: 'Run an execution again from one node on, as a new one',
    description: 'Outputs that do not depend on the node are kept. 409 `node_not_reached`.',
    permission: mayExecute,
    schema: {
      params: Type.Object({ executionId: id }),
      body: Type.Object({
        fromNode: Type.String({ minLength: 1, maxLength: 64 }),
        inputs: Type.Optional(
          Type.Record(AnyKey, Type.Unknown(), {
            description: 'in place of the former ones, by key',
          }),
        ),
      }),
      response: { 202: executionStarted },
    },
  },
  approveNode: {
    method: 'POST',
    url: '/api/v1/executions/:executionId/approvals/:nodeId',
    summary: 'Approve or reject where an execution waits for it',
    description:
      'By the approvers that the node names, else by whose the execution is. 409 `not_waiting` when it was decided already.',
    permission: mayExecute,
    schema: {
      params: Type.Object({
        executionId: id,
        nodeId: Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'the approval that waits',
        }),
      }),
      query: Type.Object({
        iteration: Type.String({ maxLength: 128, default: '', description: 'within a loop' }),
      }),
      body: Type.Object({
        ...approval.properties,
        output: Type.Optional(
          Type.Record(AnyKey, Type.Unknown(), { description: 'further fields' }),
        ),
      }),
      response: { 200: approvalAnswer },
    },
  },
  readApproval: {
    method: 'GET',
    url: '/api/v1/approvals/:token',
    summary: 'Show what a signed link decides',
    description: 'A page with two buttons, or JSON where that is preferred.',
    auth: 'none',
    schema: {
      params: token,
      response: {
        200: Type.Object({
          executionId: Type.String(),
          nodeId: Type.String(),
          message: Type.String(),
          isOpen: Type.Boolean({ description: 'false once it was decided' }),
        }),
      },
    },
  },
  decideApproval: {
    method: 'POST',
    url: '/api/v1/approvals/:token',
    summary: 'Approve or reject by a signed link, once',
    auth: 'none',
    acceptsForm: true,
    schema: {
      params: token,
      body: Type.Object({
        approved: Type.Union([Type.Boolean(), Type.Enum(['true', 'false'])]),
        comment: Type.Optional(Type.String({ maxLength: 10_000 })),
      }),
      response: { 200: approvalAnswer },
    },
  },
} as const satisfies Record<string, Route>;

const executionEvent = Type.Object(
  {
    type: Type.Enum([
      'node-started',
      'node-completed',
      'node-failed',
      'node-retrying',
      'node-skipped',
      'node-waiting',
      'node-cancelled',
      'workflow-completed',
      'workflow-failed',
      'workflow-cancelled',
    ]),
    executionId: Type.String(),
    timestamp,
    seq: Type.Integer(),
    nodeId: Type.Optional(Type.String()),
    iteration: Type.Optional(Type.String()),
    duration: Type.Optional(milliseconds),
    output: Type.Optional(Type.Unknown()),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(anyObject),
    attempt: Type.Optional(Type.Integer()),
    delay: Type.Optional(milliseconds),
  },
  { $id: 'ExecutionEvent' },
);

/** What happens to an execution. */
export const executionSockets = {
  executionStream: {
    url: '/api/v1/executions/:executionId/stream',
    summary:
      'Follow an execution from its start, or behind the query’s `after`; closes with 1000 after its last event',
    permission: mayFollow,
    subscribe: Type.Object(subscribeFields),
    event: executionEvent,
  },
} as const satisfies Record<string, SocketRoute>;
