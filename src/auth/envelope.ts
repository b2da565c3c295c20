import { Type } from 'typebox';
import type { Envelope } from '../kit/envelope.ts';
import type { Code } from '../kit/errors.ts';

const types: Partial<Readonly<Record<Code, string>>> = {
  unauthenticated: 'authentication_error',
  forbidden: 'authorization_error',
  exhausted: 'rate_limit_exceeded',
  invalid: 'invalid_request_error',
  not_found: 'invalid_request_error',
  conflict: 'invalid_request_error',
  too_large: 'invalid_request_error',
};

/** `error {type, code, message, details}`; OAuth's error names (RFC 6749, section 5.2) stand as `code`. */
export const authEnvelope: Envelope = {
  schema: Type.Object(
    {
      error: Type.Object({
        type: Type.String(),
        code: Type.String({ description: 'lower snake case' }),
        message: Type.String(),
        details: Type.Object({}, { additionalProperties: true }),
      }),
    },
    { $id: 'Error' },
  ),
  wrap: (fault) => ({
    error: {
      type: types[fault.code] ?? 'api_error',
      code: fault.reason ?? fault.code,
      message: fault.message,
      details: fault.detail,
    },
  }),
};
