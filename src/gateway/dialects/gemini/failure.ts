import type { ErrorAnswer, FailureKind, UpstreamFailure } from '../failure.ts';
import { retryAfterMs } from '../retry-hint.ts';
import { isOfAnotherThing } from '../missing-things.ts';
import { kindOfStatus, refusedMessage } from '../status-kinds.ts';
import { listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';

/** Names of google.rpc.Code. */
const kinds: ReadonlyMap<string, FailureKind> = new Map([
  ['INVALID_ARGUMENT', 'rejected'],
  ['OUT_OF_RANGE', 'rejected'],
  ['UNIMPLEMENTED', 'rejected'],
  ['FAILED_PRECONDITION', 'refused'],
  ['UNAUTHENTICATED', 'refused'],
  ['PERMISSION_DENIED', 'refused'],
  ['NOT_FOUND', 'missing'],
  ['RESOURCE_EXHAUSTED', 'limited'],
  ['DEADLINE_EXCEEDED', 'late'],
  ['UNAVAILABLE', 'broken'],
  ['INTERNAL', 'broken'],
  ['UNKNOWN', 'broken'],
  ['DATA_LOSS', 'broken'],
  ['ABORTED', 'broken'],
  ['CANCELLED', 'broken'],
]);

const tooLong = /token count.*exceeds|exceeds the maximum number of tokens/i;
const badKey = /API key not valid|API key expired|API_KEY_/i;

/** What an error answer of Google's says, a google.rpc.Status in whatever wrapping. */
export function readFailure({ status, headers, body }: ErrorAnswer): UpstreamFailure {
  const error = recordIn(recordIn(Array.isArray(body) ? listIn(body)[0] : body).error);
  const code = textIn(error.status);
  const message = textIn(error.message) ?? `the provider answered with status ${status}`;
  const details = listIn(error.details).map(recordIn);
  const kind = kindOf(code, status, `${message} ${reasonIn(details) ?? ''}`);
  const retry = delayIn(details) ?? retryAfterMs(headers);
  const param = kind === 'rejected' ? fieldIn(details) : undefined;
  return {
    kind,
    message: kind === 'refused' ? refusedMessage : message,
    status,
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
    ...(retry === undefined ? {} : { retryAfterMs: retry }),
  };
}

/** What an error inside a stream says; its `code` is the status that it would have had. */
export function readStreamFailure(body: Json): UpstreamFailure {
  const { code } = recordIn(body.error);
  return readFailure({ status: typeof code === 'number' ? code : 500, headers: {}, body });
}

function kindOf(code: string | undefined, status: number, message: string): FailureKind {
  const kind = kinds.get(code ?? '') ?? kindOfStatus(status);
  // What a request names and is not there may be forbidden as well: both are the request's fault.
  const isOfThing = kind === 'missing' || code === 'PERMISSION_DENIED';
  if (isOfThing && code !== undefined && isOfAnotherThing(message)) return 'rejected';
  if (kind !== 'rejected') return kind;
  if (badKey.test(message)) return 'refused';
  return tooLong.test(message) ? 'too-long' : 'rejected';
}

function detailOf(details: readonly Json[], type: string): Json {
  return details.find((detail) => String(detail['@type']).endsWith(type)) ?? {};
}

function reasonIn(details: readonly Json[]): string | undefined {
  return textIn(detailOf(details, 'google.rpc.ErrorInfo').reason);
}

/** A google.protobuf.Duration, such as `17.5s`. */
function delayIn(details: readonly Json[]): number | undefined {
  const delay = textIn(detailOf(details, 'google.rpc.RetryInfo').retryDelay);
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '') ?? [];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

function fieldIn(details: readonly Json[]): string | undefined {
  const violations = listIn(detailOf(details, 'google.rpc.BadRequest').fieldViolations);
  return textIn(recordIn(violations[0]).field);
}
