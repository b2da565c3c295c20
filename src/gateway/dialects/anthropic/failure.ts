import type { ErrorAnswer, FailureKind, UpstreamFailure } from '../failure.ts';
import { headerOf, msUntil, retryAfterMs } from '../retry-hint.ts';
import { isOfAnotherThing } from '../missing-things.ts';
import { kindOfStatus, refusedMessage } from '../status-kinds.ts';
import { isRecord, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';

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
  const details = detailsIn(error);
  const kind = kindOf({ type: code, status, message, errorCode: textIn(details?.error_code) });
  const retry = kind === 'limited' || kind === 'broken' ? retryOf(headers) : undefined;
  const param = kind === 'rejected' ? complaint.exec(message)?.[1] : undefined;
  return {
    kind,
    message: kind === 'refused' ? refusedMessage : message,
    status,
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
    ...(details === undefined ? {} : { details }),
    ...(retry === undefined ? {} : { retryAfterMs: retry }),
  };
}

/** What an error inside a stream says, as if it had come with the status of its kind. */
export function readStreamFailure(body: Json): UpstreamFailure {
  const { status = 500 } = errorTypes.get(textIn(recordIn(body.error).type) ?? '') ?? {};
  return readFailure({ status, headers: {}, body });
}

interface ErrorWords {
  readonly type: string | undefined;
  readonly status: number;
  readonly message: string;
  /** What the details call it, such as `thread_not_found`: a flaw of the request, as a rule. */
  readonly errorCode: string | undefined;
}

function kindOf({ type, status, message, errorCode }: ErrorWords): FailureKind {
  const kind = errorTypes.get(type ?? '')?.kind ?? kindOfStatus(status);
  if (kind === 'missing' && isOfAnotherThing(`${errorCode ?? ''} ${message}`)) return 'rejected';
  // A conflict that has a name of its own is one with the request, and no repetition settles it.
  if (status === 409 && errorCode !== undefined) return 'rejected';
  if (kind !== 'rejected') return kind;
  if (tooLong.test(message)) return 'too-long';
  return unpaid.test(message) ? 'refused' : 'rejected';
}

const detailCharsMax = 4000;

/** The details; none, where they are more than anybody has to say of an error. */
function detailsIn({ details }: Json): Json | undefined {
  if (!isRecord(details)) return undefined;
  return JSON.stringify(details).length > detailCharsMax ? undefined : details;
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
