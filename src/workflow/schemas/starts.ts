import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { mayExecute } from './access.ts';
import { budgetFields } from './budget.ts';
import { executionStatus } from './execution-answers.ts';
import { workflowParams as params } from './workflow-answers.ts';

const millisecondsMax = 366 * 24 * 60 * 60_000;

const address = Type.String({
  maxLength: 2_048,
  description:
    'http or https; private networks are refused, this machine unless the suite listens on loopback',
});

const options = Type.Object({
  async: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'false waits up to a minute and answers 200 with the finished execution',
    }),
  ),
  callbacks: Type.Optional(
    Type.Object({
      onComplete: Type.Optional(address),
      onError: Type.Optional(address),
      secret: Type.Optional(
        Type.String({
          minLength: 16,
          maxLength: 256,
          description: 'signs the callbacks, in place of the secret of the workflow',
        }),
      ),
    }),
  ),
  timeout: Type.Optional(
    Type.Integer({ minimum: 1, maximum: millisecondsMax, description: 'milliseconds' }),
  ),
  ...budgetFields,
  idempotencyKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'printable ASCII: the same key starts nothing twice; the header `Idempotency-Key` says it too',
    }),
  ),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'the published one when absent; a draft only for its owner',
    }),
  ),
});

const started = Type.Object(
  {
    executionId: Type.String(),
    workflowId: Type.String(),
    status: Type.String({ description: '`running`' }),
    startedAt: Type.String({ format: 'date-time' }),
    estimatedDuration: Type.Integer({ description: 'milliseconds' }),
    monitorUrl: Type.String({ description: 'a WebSocket address' }),
  },
  { $id: 'WorkflowStarted' },
);

/** Starting an execution. */
export const startRoutes = {
  executeWorkflow: {
    method: 'POST',
    url: '/api/v1/workflows/:id/execute',
    summary: 'Run a workflow',
    description:
      '`inputs` by node id are merged over the settings of those nodes; all of them are there as `inputs.<key>`. They neither replace settings that are the author’s (`x-ennead: author` in the schema of a component, 400 `setting_not_open`) nor send secrets of a node to another origin. What 202 has answered runs to its end, whatever dies meanwhile.',
    permission: mayExecute,
    schema: {
      params,
      body: Type.Object({
        inputs: Type.Optional(Type.Object({}, { additionalProperties: true })),
        options: Type.Optional(options),
      }),
      response: { 200: executionStatus, 202: started },
    },
  },
} as const satisfies Record<string, Route>;
