import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { mayCreate, mayExecute, mayRead } from './access.ts';
import { line, workflowParams as params } from './workflow-answers.ts';

const path = '/api/v1/workflows/:id/tests';

// Closed, as is the test: a misspelt name would be an expectation that always holds.
const expectation = Type.Object(
  {
    node: Type.Optional(line(64, 'the node whose output is looked at, else the result')),
    path: Type.Optional(line(1_000, 'where in it: `a.b[0].c`')),
    equals: Type.Optional(Type.Unknown()),
    contains: Type.Optional(
      Type.Unknown({ description: 'of a text a part, of a list an element' }),
    ),
    cel: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description: 'a condition on nodes and inputs',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'says `equals` or `contains` or both, of `path` in the output of `node`; or `cel`, by itself',
  },
);

const test = Type.Object(
  {
    name: line(200, 'unique among the tests of a workflow'),
    inputs: Type.Optional(Type.Object({}, { additionalProperties: true })),
    pinned: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'outputs by node id, which stand in for running those nodes',
        },
      ),
    ),
    status: Type.Optional(
      Type.Enum(['completed', 'failed'], {
        default: 'completed',
        description: 'how the execution must end',
      }),
    ),
    expect: Type.Array(expectation, { maxItems: 100 }),
  },
  { $id: 'FlowTest', additionalProperties: false },
);

/** The tests of one workflow. */
export const flowTestList = Type.Array(test, { maxItems: 100 });

const tests = Type.Object({ tests: flowTestList });

const result = Type.Object(
  {
    name: Type.String(),
    passed: Type.Boolean(),
    executionId: Type.String(),
    status: Type.String(),
    duration: Type.Integer({ description: 'milliseconds' }),
    failures: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'in `expect`; -1 is how the execution ended' }),
        message: Type.String(),
        actual: Type.Optional(Type.Unknown()),
      }),
    ),
  },
  { $id: 'FlowTestResult' },
);

/** Tests of workflows. */
export const flowTestRoutes = {
  readFlowTests: {
    method: 'GET',
    url: path,
    summary: 'Read the tests of a workflow',
    permission: mayRead,
    schema: { params, response: { 200: tests } },
  },
  writeFlowTests: {
    method: 'PUT',
    url: path,
    summary: 'Replace the tests of a workflow',
    permission: mayCreate,
    schema: { params, body: tests, response: { 200: tests } },
  },
  runFlowTests: {
    method: 'POST',
    url: `${path}/run`,
    summary: 'Run the tests of a workflow',
    description:
      'Against its newest version unless told. Nodes that are not pinned really run, also those that act on the world.',
    permission: mayExecute,
    schema: {
      params,
      body: Type.Object({
        version: Type.Optional(Type.Integer({ minimum: 1 })),
        name: Type.Optional(line(200, 'only the test of this name')),
      }),
      response: {
        200: Type.Object({
          passed: Type.Boolean({ description: 'whether all did' }),
          total: Type.Integer(),
          failed: Type.Integer(),
          results: Type.Array(result),
        }),
      },
    },
  },
} as const satisfies Record<string, Route>;
