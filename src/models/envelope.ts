import { Type } from 'typebox';
import { plainEnvelope, type Envelope } from '../kit/envelope.ts';
import type { Fault } from '../kit/errors.ts';
import { JsonRpcError } from '../kit/mcp/json-rpc-fault.ts';
import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';

const openAiError = Type.Object({
  error: Type.Object({
    message: Type.String(),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()]),
  }),
});

const ollamaError = Type.Object({ error: Type.String() });

/** OpenAI's envelope below `/v1`, Ollama's below `/api`, JSON-RPC's for MCP, else the plain one. */
export const modelsEnvelope: Envelope = {
  schema: Type.Union([plainEnvelope.schema, openAiError, ollamaError, JsonRpcError], {
    $id: 'Refusal',
  }),
  wrap: (fault, context) => {
    if (context.path.startsWith('/v1/')) return { error: toOpenAiError(fault) };
    if (context.path.startsWith('/api/')) return { error: fault.message };
    return mcpEnvelope.wrap(fault, context);
  },
};

function toOpenAiError(fault: Fault) {
  const { param } = fault.detail;
  return {
    message: fault.message,
    type: typeOf(fault),
    param: typeof param === 'string' ? indexed(param) : null,
    code: fault.reason ?? fault.code,
  };
}

/** A field as OpenAI's API names it: `messages[0].role`, not `messages.0.role`. */
function indexed(param: string): string {
  return param.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');
}

function typeOf({ status }: Fault): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
