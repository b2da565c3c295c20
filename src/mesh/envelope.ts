import { plainEnvelope, type Envelope } from '../kit/envelope.ts';
import { jsonRpcFault } from '../kit/mcp/json-rpc-fault.ts';
import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';
import { a2aPath } from './schemas/a2a.ts';

/** The plain envelope, and JSON-RPC's for A2A. */
export const meshEnvelope: Envelope = {
  schema: mcpEnvelope.schema,
  wrap: (fault, context) =>
    context.path === a2aPath
      ? jsonRpcFault(fault, context.requestId)
      : plainEnvelope.wrap(fault, context),
};
