import { Type } from 'typebox';
import type { Envelope } from '../kit/envelope.ts';
import { codes, type Fault } from '../kit/errors.ts';

const Refusal = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: 'a sentence' }),
    details: Type.String({ description: 'what helps to find the fault; else the sentence again' }),
    code: Type.String({ description: 'upper snake case: the reason, else the kind of fault' }),
    timestamp: Type.String({ format: 'date-time' }),
  },
  { $id: 'Error' },
);

const TooMany = Type.Object({
  error: Type.String(),
  limit: Type.Integer(),
  window: Type.String({ description: '`1m`' }),
  retry_after: Type.Integer({ description: 'seconds; also the header `Retry-After`' }),
});

/**
 * `{success: false, error, details, code, timestamp}`, of a rate limit `{error, limit, window,
 * retry_after}`, and no status that the interface does not name.
 */
export const chatEnvelope: Envelope = {
  schema: Type.Union([Refusal, TooMany]),
  statusOf: statusOfFault,
  wrap: (fault, { timestamp }) => describeFault(fault, timestamp),
};

/** The status of a refusal: one that the interface names. */
export function statusOfFault({ code }: Pick<Fault, 'code'>): number {
  return statuses.get(code) ?? codes[code].http;
}

/** The body of a refusal, also for sockets. */
export function describeFault(fault: Fault, timestamp = new Date().toISOString()) {
  const { message, detail, retryAfter } = fault;
  const { limit, window } = detail;
  if (fault.reason === 'rate_limit_exceeded' && typeof limit === 'number') {
    return { error: message, limit, window: window ?? '1m', retry_after: retryAfter ?? 1 };
  }
  const details = describeDetail(detail);
  return {
    success: false,
    error: message,
    details: details === '' ? message : details,
    code: codeOf(fault),
    timestamp,
  };
}

/** The interface's codes of a fault: `VALIDATION_ERROR`, `CONVERSATION_NOT_FOUND`. */
export function codeOf({ reason, code }: Fault): string {
  return (reason ?? code).toUpperCase();
}

/** What an upstream did wrong is to the caller that the service is down. */
const statuses: ReadonlyMap<Fault['code'], number> = new Map([
  ['upstream', 503],
  ['deadline', 503],
  ['unimplemented', 503],
]);

/** `place: words` for a schema's flaws, `name: value` for all else. */
function describeDetail({ errors, ...rest }: Fault['detail']): string {
  if (Array.isArray(errors)) {
    const flaws = errors as readonly { readonly path?: string; readonly message?: string }[];
    return flaws.map(({ path, message }) => `${path} ${message}`).join('; ');
  }
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}: ${describeValue(value)}`)
    .join('; ');
}

function describeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
