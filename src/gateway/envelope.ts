import { Type } from 'typebox';
import type { Envelope } from '../kit/envelope.ts';
import { anthropicEnvelope, AnthropicFault } from './faces/anthropic/envelope.ts';
import type { Code, Fault } from '../kit/errors.ts';

const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'rate_limit_exceeded',
  'model_not_found',
  'provider_error',
] as const;
type ErrorType = (typeof errorTypes)[number];

const OwnError = Type.Object(
  {
    error: Type.Object({
      type: Type.Enum([...errorTypes]),
      message: Type.String(),
      param: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      code: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      retry_after: Type.Optional(Type.Integer({ description: 'seconds' })),
    }),
  },
  { $id: 'Error' },
);

/**
 * `error {type, message, param, code}`; a rate limit says `retry_after` in seconds instead. Where
 * Anthropic's clients ask, refusals are in Anthropic's words.
 */
export const gatewayEnvelope: Envelope = {
  schema: Type.Union([OwnError, anthropicEnvelope.schema]),
  wrap: (fault, context) =>
    fault instanceof AnthropicFault || anthropicPaths.test(context.path)
      ? anthropicEnvelope.wrap(fault, context)
      : { error: describeFault(fault) },
};

/** Where Anthropic's clients ask, and read refusals in its words. */
const anthropicPaths = /^(?:\/api)?\/v1\/messages(?:\/|$)/;

const typesByCode: Partial<Record<Code, ErrorType>> = {
  unauthenticated: 'authentication_error',
  forbidden: 'authentication_error',
  exhausted: 'rate_limit_exceeded',
  upstream: 'provider_error',
  unavailable: 'provider_error',
  deadline: 'provider_error',
  internal: 'provider_error',
};

function typeOf(fault: Fault): ErrorType {
  if (fault.reason === 'model_not_found') return 'model_not_found';
  return typesByCode[fault.code] ?? 'invalid_request_error';
}

/** What the envelope says of a fault, for places where no request is at hand. */
export function describeFault(fault: Fault) {
  const type = typeOf(fault);
  const { message } = fault;
  if (type === 'rate_limit_exceeded') {
    const isOurs = fault.reason === undefined || fault.reason === 'rate_limit_exceeded';
    const code = isOurs ? {} : { code: fault.reason };
    return { type, message, ...code, retry_after: fault.retryAfter ?? 1 };
  }
  const { param } = fault.detail;
  return {
    type,
    message,
    param: typeof param === 'string' ? param : null,
    code: fault.reason ?? fault.code,
  };
}
