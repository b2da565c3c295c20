import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { ListedModel } from './list-models.ts';

const AnyObject = Type.Object({}, { additionalProperties: true });

/** A tool and what it shall work on. */
export const Invocation = Type.Object(
  {
    tool: Type.String({ minLength: 1, maxLength: 128 }),
    input: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'as the inputSchema of the tool says' },
      ),
    ),
  },
  { $id: 'Invocation' },
);

/** What a tool answered, and what it took. */
export const InvocationResult = Type.Object(
  {
    result: Type.Object(
      {
        output: Type.Unknown({ description: 'what the tool was asked for' }),
        model: Type.String({ description: 'the model that made it' }),
      },
      { additionalProperties: true },
    ),
    cost: Type.Number({ description: '0: local models cost nothing' }),
    duration: Type.Number({ description: 'milliseconds' }),
  },
  { $id: 'InvocationResult' },
);

const ListedTool = Type.Object({
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
  inputSchema: AnyObject,
  outputSchema: AnyObject,
});

const bodyBytesMax = 8 * 1024 * 1024;

/** The tools, by HTTP and by MCP. */
export const toolRoutes = {
  invoke: {
    method: 'POST',
    url: '/invoke',
    summary: 'Run a tool',
    bodyBytesMax,
    schema: { body: Invocation, response: { 200: InvocationResult } },
  },
  listTools: {
    method: 'GET',
    url: '/tools',
    summary: 'List the tools and the models',
    schema: {
      response: {
        200: Type.Object({ tools: Type.Array(ListedTool), models: Type.Array(ListedModel) }),
      },
    },
  },
  mcp: {
    method: 'POST',
    url: '/mcp',
    summary: 'Speak MCP (streamable HTTP)',
    description:
      'One JSON-RPC message of the Model Context Protocol, of the stateless revision 2026-07-28 or ' +
      'of those before. The answer is JSON or server-sent events.',
    bodyBytesMax,
    schema: {
      body: Type.Unknown({ description: 'a JSON-RPC message' }),
      response: { 200: Type.Unknown({ description: 'a JSON-RPC message' }) },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
