import type { ErrorAnswer, FailureKind, UpstreamFailure } from '../failure.ts';
import { headerOf, msUntil, retryAfterMs } from '../retry-hint.ts';
import { kindOfStatus, refusedMessage } from '../status-kinds.ts';
import { recordIn, textIn, type Json } from '../untrusted.ts';

interface ErrorType {
  readonly kind: FailureKind;
  readonly status: number;
}

const errorTypes: ReadonlyMap<string, ErrorType> = new Map([
  ['rate_limit_error', { kind: 'limited', status: 429 }],
  ['overloaded_error', { kind: 'broken', status: 529 }],
  ['api_error', { kind: 'broken', status: 500 }],
  ['timeout_error', { kind: 'late', status: 504 }],
  ['authentication_error', { kind: 'refused', status: 401 }],
  ['billing_error', { kind: 'refused', status: 402 }],
  ['permission_error', { kind: 'refused', status: 403 }],
  ['not_found_error', { kind: 'missing', status: 404 }],
  ['request_too_large', { kind: 'too-long', status: 413 }],
  ['invalid_request_error', { kind: 'rejected', status: 400 }],
]);

const tooLong =
  /prompt is too long|exceeds? (?:the )?(?:model's )?context|too many (?:total )?tokens/i;
const unpaid = /credit balance|billing|spend(?:ing)? limit/i;
/** Messages about a field begin with its path. */
const complaint = /^([a-z_]+(?:\.[\w-]+)*): /;

/** What an error answer of Anthropic's says. */
export function readFailure({ status, headers, body }: ErrorAnswer): UpstreamFailure {
  const error = recordIn(recordIn(body).error);
  const code = textIn(error.type);
  const message = textIn(error.message) ?? `the provider answered with status ${status}`;
  const kind = kindOf(code, status, message);
  const retry = kind === 'limited' || kind === 'broken' ? retryOf(headers) : undefined;
  const param = complaint.exec(message)?.[1];
  return {
    kind,
    message: kind === 'refused' ? refusedMessage : message,
    status,
    ...(code === undefined ? {} : { code }),
    ...(param === undefined || kind !== 'rejected' ? {} : { param }),
    ...(retry === undefined ? {} : { retryAfterMs: retry }),
  };
}

/** What an error inside a stream says, as if it had come with the status of its kind. */
export function readStreamFailure(body: Json): UpstreamFailure {
  const { status = 500 } = errorTypes.get(textIn(recordIn(body.error).type) ?? '') ?? {};
  return readFailure({ status, headers: {}, body });
}

function kindOf(type: string | undefined, status: number, message: string): FailureKind {
  const kind = errorTypes.get(type ?? '')?.kind ?? kindOfStatus(status);
  if (kind !== 'rejected') return kind;
  if (tooLong.test(message)) return 'too-long';
  return unpaid.test(message) ? 'refused' : 'rejected';
}

const limits = ['requests', 'tokens', 'input-tokens', 'output-tokens'];

/** `Retry-After`, else the time at which the limits that are used up are full again. */
function retryOf(headers: ErrorAnswer['headers']): number | undefined {
  const told = retryAfterMs(headers);
  if (told !== undefined) return told;
  let latest: number | undefined;
  for (const limit of limits) {
    if (headerOf(headers, `anthropic-ratelimit-${limit}-remaining`) !== '0') continue;
    const wait = msUntil(headerOf(headers, `anthropic-ratelimit-${limit}-reset`) ?? '');
    if (wait !== undefined) latest = Math.max(latest ?? 0, wait);
  }
  return latest;
}
