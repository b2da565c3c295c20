import { Type } from 'typebox';
import type { Envelope } from '../kit/envelope.ts';
import type { Code } from '../kit/errors.ts';
import { formMediaType } from '../kit/http/form-body.ts';

const types: Partial<Readonly<Record<Code, string>>> = {
  unauthenticated: 'authentication_error',
  forbidden: 'authorization_error',
  exhausted: 'rate_limit_exceeded',
  invalid: 'invalid_request_error',
  not_found: 'invalid_request_error',
  conflict: 'invalid_request_error',
  too_large: 'invalid_request_error',
};

/** Where clients of OAuth come, which send forms and read nothing but their own words. */
const oauthPaths: ReadonlySet<string> = new Set(
  ['oauth/token', 'refresh', 'revoke', 'introspect'].map((path) => `/api/v1/auth/${path}`),
);

/** What OAuth calls what has another name here. */
const oauthNames: Readonly<Record<string, string>> = {
  validation_error: 'invalid_request',
  internal: 'server_error',
  unavailable: 'temporarily_unavailable',
};

/**
 * `error {type, code, message, details}`; OAuth's error names (RFC 6749, section 5.2) stand as `code`. Who
 * sends a form as OAuth has it is answered as OAuth has it, by `error` and `error_description`.
 */
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
  wrap: (fault, { path, headers }) => {
    const { code, reason = code, message, detail } = fault;
    const isForm = headers?.['content-type']?.toLowerCase().startsWith(formMediaType) ?? false;
    if (isForm && oauthPaths.has(path)) {
      return { error: oauthNames[reason] ?? reason, error_description: message };
    }
    return { error: { type: types[code] ?? 'api_error', code: reason, message, details: detail } };
  },
};
