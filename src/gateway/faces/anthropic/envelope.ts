import { Type } from 'typebox';
import type { Envelope } from '../../../kit/envelope.ts';
import type { Code, Fault } from '../../../kit/errors.ts';
import { isRecord } from '../../dialects/untrusted.ts';
import type { Json } from '../../dialects/json.ts';
import { AnyKey } from '../../../kit/any-key.ts';

const types: Readonly<Record<Code, string>> = {
  invalid: 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  conflict: 'invalid_request_error',
  too_large: 'request_too_large',
  exhausted: 'rate_limit_error',
  cancelled: 'api_error',
  deadline: 'timeout_error',
  unavailable: 'overloaded_error',
  upstream: 'api_error',
  unimplemented: 'invalid_request_error',
  internal: 'api_error',
};

/** `{type: 'error', error: {type, message}, request_id}`: how Anthropic words its refusals. */
export const anthropicEnvelope: Envelope = {
  schema: Type.Object(
    {
      type: Type.Literal('error'),
      error: Type.Object({
        type: Type.Enum([...new Set(Object.values(types)), 'billing_error']),
        message: Type.String(),
        details: Type.Optional(
          Type.Record(AnyKey, Type.Unknown(), {
            description: "`error_code` and what belongs to it, for the API's own clients",
          }),
        ),
      }),
      request_id: Type.Optional(Type.String()),
    },
    { $id: 'AnthropicError' },
  ),
  wrap: (fault, { requestId }) => ({ ...describe(fault), request_id: requestId }),
};

/** The event that ends a stream which cannot be finished. */
export function writeFailure(fault: Fault): string {
  return `event: error\ndata: ${JSON.stringify(describe(fault))}\n\n`;
}

/** Anthropic puts the field that it complains of in front of the message. */
function describe(fault: Fault) {
  const { param } = fault.detail;
  const isNamed = typeof param === 'string' && !fault.message.includes(param);
  const message = isNamed ? `${param}: ${fault.message}` : fault.message;
  const details = detailsOf(fault);
  return { type: 'error', error: { type: typeOf(fault), message, ...(details && { details }) } };
}

/**
 * What Anthropic says in its details. Its clients go on without a thread where one is refused by this
 * name (`ThreadUnsupportedRequestErrorDetails` in Anthropic's SDKs).
 */
function detailsOf({ reason, detail: { param, details } }: Fault): Json | undefined {
  if (isRecord(details)) return details;
  const isOfThread = reason === 'unsupported_parameter' && param === 'thread';
  return isOfThread ? { error_code: 'thread_unsupported_request' } : undefined;
}

function typeOf({ code, status }: Fault): string {
  return status === 402 ? 'billing_error' : types[code];
}
