import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const anyObject = Type.Object({}, { additionalProperties: true });

/** Where the mesh speaks A2A. */
export const a2aPath = '/a2a';

/** The mesh as an A2A server. */
export const a2aRoutes = {
  readAgentCard: {
    method: 'GET',
    url: '/.well-known/agent-card.json',
    summary: 'Read the mesh’s own A2A agent card',
    auth: 'none',
    schema: { response: { 200: anyObject } },
  },
  callA2a: {
    method: 'POST',
    url: a2aPath,
    summary: 'Speak A2A: JSON-RPC, versions 1.0 and 0.3',
    description:
      '`SendMessage`, `GetTask`, `CancelTask` and their names of 0.3. `metadata.mesh.agentId` or `metadata.mesh.capability` picks the agent, `chat` else; `metadata.mesh.type`, `timeout` and `priority` are the task’s. A request without an `id` is answered by 202 and no body.',
    permission: 'mesh:communicate',
    bodyCheck: 'handler',
    schema: { body: anyObject, response: { 200: anyObject, 202: Type.Unknown() } },
  },
} as const satisfies Record<string, Route>;
