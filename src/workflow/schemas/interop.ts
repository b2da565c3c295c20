import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { flowSchema } from '../flow/schema.ts';
import { interopFormats } from '../interop/report.ts';
import { mayCreate, mayExecute, mayRead } from './access.ts';
import { flowTestList } from './flow-tests.ts';
import { line, workflowAnswer, workflowParams as params } from './workflow-answers.ts';

const format = Type.Enum(interopFormats);

const importReport = Type.Object(
  {
    format,
    fidelity: Type.Number({
      description: '0..1: a step counts whole when it is exact, four fifths when it was adapted',
    }),
    nodes: Type.Array(
      Type.Object({
        source: Type.String({ description: 'what it is called where it comes from' }),
        type: Type.String({ description: 'what it is there' }),
        nodeId: Type.Optional(Type.String({ description: 'absent where it needs no node here' })),
        status: Type.Enum(['exact', 'adapted', 'unsupported']),
        note: Type.Optional(Type.String()),
      }),
    ),
    unsupported: Type.Array(Type.String(), { description: 'steps that somebody has to replace' }),
    warnings: Type.Array(Type.String()),
  },
  { $id: 'ImportReport' },
);

const AnyObject = Type.Object({}, { additionalProperties: true });

/** Workflows that come from elsewhere and go elsewhere, and those that are tools. */
export const interopRoutes = {
  importWorkflow: {
    method: 'POST',
    url: '/api/v1/workflows/import',
    summary: 'Make a workflow of a document of n8n, Flowise, Langflow, Serverless Workflow or ours',
    description:
      'Scripts in it are never run. A step without a counterpart becomes a Placeholder that keeps its settings, and the workflow is a draft then; else it is active. `dryRun` answers 200 with the flow and stores nothing.',
    permission: mayCreate,
    bodyBytesMax: 8 * 1024 * 1024,
    schema: {
      body: Type.Object({
        format: Type.Optional(Type.Enum(interopFormats, { description: 'recognised when absent' })),
        document: Type.Union(
          [Type.String(), AnyObject, Type.Array(AnyObject, { maxItems: 1_000 })],
          {
            description: 'the document itself, or its text: JSON or YAML',
          },
        ),
        name: Type.Optional(line(200, 'what it is called; as the document says when absent')),
        dryRun: Type.Optional(Type.Boolean({ default: false })),
      }),
      response: {
        200: Type.Object({ name: Type.String(), flow: flowSchema, report: importReport }),
        201: Type.Object({ ...workflowAnswer.properties, report: importReport }),
      },
    },
  },
  exportWorkflow: {
    method: 'GET',
    url: '/api/v1/workflows/:id/export',
    summary: 'Take a workflow elsewhere',
    description:
      '`ennead` answers JSON that `import` takes as it is. `serverless-workflow` answers YAML of DSL 1.0, in whose head stands what it cannot say; `X-Ennead-Unsupported` counts those steps.',
    permission: mayRead,
    schema: {
      params,
      query: Type.Object({
        format: Type.Enum(['ennead', 'serverless-workflow'], {
          default: 'ennead',
          description: 'what the document is to be',
        }),
        version: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 2_147_483_647,
            description: 'the published one when absent',
          }),
        ),
      }),
      response: {
        200: Type.Object({
          format: Type.String(),
          name: Type.String(),
          description: Type.String(),
          category: Type.String(),
          tags: Type.Array(Type.String()),
          flow: flowSchema,
          tests: Type.Optional(flowTestList),
        }),
      },
    },
  },
  mcp: {
    method: 'POST',
    url: '/mcp',
    summary: 'Speak MCP: each active workflow is a tool',
    permission: mayExecute,
    bodyBytesMax: 4 * 1024 * 1024,
    schema: { body: Type.Unknown(), response: { 200: Type.Unknown() } },
  },
} as const satisfies Record<string, Route>;
