import { Type } from 'typebox';
import { plainEnvelope, type Envelope } from '../envelope.ts';
import { JsonRpcError, jsonRpcFault } from './json-rpc-fault.ts';

/** The plain envelope, and JSON-RPC's for MCP: at `/mcp` and below. */
export const mcpEnvelope: Envelope = {
  schema: Type.Union([plainEnvelope.schema, JsonRpcError], { $id: 'Refusal' }),
  wrap: (fault, context) =>
    isMcp(context.path)
      ? jsonRpcFault(fault, context.requestId)
      : plainEnvelope.wrap(fault, context),
};

function isMcp(path: string): boolean {
  return path === '/mcp' || path.startsWith('/mcp/');
}
