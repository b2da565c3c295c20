import { Type, type Static } from 'typebox';
import type { Fault } from '../errors.ts';

/** A JSON-RPC error (JSON-RPC 2.0, section 5); `id` is null where no request could be read. */
export const JsonRpcError = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.Null(), Type.String(), Type.Integer()]),
  error: Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    data: Type.Optional(
      Type.Object(
        {
          code: Type.Optional(
            Type.String({ description: 'upper snake case: the reason, else the code' }),
          ),
          requestId: Type.Optional(Type.String()),
        },
        { additionalProperties: true },
      ),
    ),
  }),
});
export type JsonRpcError = Static<typeof JsonRpcError>;

/** The codes of JSON-RPC 2.0, section 5.1; -32000 begins the range that servers may use. */
const parseError = -32_700;
const invalidRequest = -32_600;
const internalError = -32_603;
const serverError = -32_000;

/** The refusal of what never became a JSON-RPC message, or came from nobody. */
export function jsonRpcFault(fault: Fault, requestId: string): JsonRpcError {
  const code = (fault.reason ?? fault.code).toUpperCase();
  return {
    jsonrpc: '2.0',
    id: null,
    error: { code: codeOf(fault), message: fault.message, data: { code, requestId } },
  };
}

function codeOf(fault: Fault): number {
  if (fault.reason === 'invalid_json') return parseError;
  if (fault.code === 'invalid') return invalidRequest;
  return fault.code === 'internal' ? internalError : serverError;
}
