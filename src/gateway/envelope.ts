import { Type } from 'typebox';
import type { Envelope, FaultContext } from '../kit/envelope.ts';
import { anthropicEnvelope } from './faces/anthropic/envelope.ts';
import { speaksAnthropic } from './faces/anthropic/models.ts';
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
    isForAnthropic(context)
      ? anthropicEnvelope.wrap(fault, context)
      : { error: describeFault(fault) },
};

/** Where only Anthropic's clients ask. */
const anthropicPaths = /^(?:\/api)?\/v1\/messages(?:\/|$)/;
/** Where clients of both ask. */
const modelPaths = /^(?:\/api)?\/v1\/models(?:\/|$)/;

function isForAnthropic({ path, headers }: FaultContext): boolean {
  if (anthropicPaths.test(path)) return true;
  return headers !== undefined && speaksAnthropic(headers) && modelPaths.test(path);
}

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
