import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { strategies } from '../balancing/strategy.ts';
import { toolNameCharsMax } from '../links/link.ts';
import { virtualServerRoutes } from './virtual-servers.ts';
import { AnyKey } from '../../kit/any-key.ts';

/** Whoever holds one of these may call what servers offer. */
export const callPermissions = ['registry:call', 'agent:execute'] as const;

const input = Type.Optional(
  Type.Record(AnyKey, Type.Unknown(), { description: 'what the tool takes' }),
);
const timeout = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 600_000,
    default: 60_000,
    description: 'milliseconds that the call may take',
  }),
);
const toolName = Type.String({ minLength: 1, maxLength: toolNameCharsMax });

const calledTool = Type.Object(
  {
    connectionId: Type.String(),
    tool: Type.String(),
    result: Type.Unknown({
      description: 'the structured content of the answer, else its texts, else null',
    }),
    content: Type.Array(Type.Unknown(), { description: 'content blocks as in MCP' }),
    isError: Type.Boolean({ description: 'the tool itself says that it failed' }),
    duration: Type.Number({ description: 'milliseconds' }),
  },
  { $id: 'CalledTool' },
);

const mcpDescription =
  'Streamable HTTP of MCP, revision 2026-07-28 and the ones before it. Tools and prompts are named `server__name`; a resource keeps its uri, and where two servers have the same the first by registration is read. Listing needs an identity, calling, reading and getting one of `registry:call` and `agent:execute`. With `mode=lean` three tools stand for all: `registry_search`, `registry_describe` and `registry_call`.';

const mode = Type.Object({
  mode: Type.Optional(
    Type.Enum(['full', 'lean'], {
      description: '`lean`: three tools that find, describe and call all others',
    }),
  ),
});
const message = Type.Union(
  [Type.Object({}, { additionalProperties: true }), Type.Array(Type.Unknown(), { maxItems: 16 })],
  { description: 'a message of JSON-RPC 2.0, or several' },
);

/** The routes of calls, of the aggregated MCP server and of virtual servers. */
export const callsRoutes = {
  callConnection: {
    method: 'POST',
    url: '/connections/:connectionId/call',
    summary: 'Call a tool of a connection',
    description:
      'The arguments are checked against the schema that the server gave. A tool that changed since it was agreed to answers 409 `TOOL_CHANGED` where such tools are in quarantine. What the server refuses is 502 `SERVER_ERROR` with its `code` and `message`; a caller who leaves cancels the call at the server.',
    permission: callPermissions,
    schema: {
      params: Type.Object({
        connectionId: Type.String({ pattern: '^[\\w-]{1,64}$', description: '`con_…`' }),
      }),
      body: Type.Object({ tool: toolName, arguments: input, timeout }, { $id: 'ToolCall' }),
      response: { 200: calledTool },
    },
  },
  callCapability: {
    method: 'POST',
    url: '/capabilities/:capability/call',
    summary: 'Call a tool at any connection that offers it',
    description:
      'The connection is chosen as in discovery. Another one is tried only while nothing was sent to the first.',
    permission: callPermissions,
    schema: {
      params: Type.Object({ capability: { ...toolName, description: 'the name of a tool' } }),
      body: Type.Object(
        {
          arguments: input,
          timeout,
          strategy: Type.Optional(Type.Enum([...strategies, 'p2c'])),
          key: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
        },
        { $id: 'CapabilityCall' },
      ),
      response: { 200: calledTool },
    },
  },
  mcp: {
    method: 'POST',
    url: '/mcp',
    summary: 'Speak MCP with all servers as one',
    description: mcpDescription,
    schema: { query: mode, body: message, response: { 200: Type.Unknown() } },
  },
  mcpOfVirtualServer: {
    method: 'POST',
    url: '/mcp/:virtualServer',
    summary: 'Speak MCP with a virtual server',
    description: mcpDescription,
    schema: {
      params: Type.Object({
        virtualServer: Type.String({
          pattern: '^[\\w.-]{1,64}$',
          description: 'the name of a virtual server',
        }),
      }),
      query: mode,
      body: message,
      response: { 200: Type.Unknown() },
    },
  },
  ...virtualServerRoutes,
} as const satisfies Record<string, Route>;
