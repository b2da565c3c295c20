import { Fault, type Code } from '../../../kit/errors.ts';
import type { FailureKind, UpstreamFailure } from '../../dialects/failure.ts';
import { targetId, type Target } from '../../providers/provider.ts';

/** An attempt that failed, and why. */
export interface FailedAttempt {
  readonly target: Target;
  readonly failure: UpstreamFailure;
}

/**
 * The one Fault that a request's failed attempts come to. A complaint about the request stays one;
 * all else is the providers' fault and names them all.
 */
export function conclude(attempts: readonly FailedAttempt[]): Fault {
  const last = attempts.at(-1);
  if (!last) return new Fault('deadline', 'there was no time to ask a provider');
  const { failure } = last;
  const complaint = complaints[failure.kind];
  if (complaint && attempts.every(({ failure: { kind } }) => complaints[kind])) {
    return complaint(failure, last.target);
  }
  const message = describe(attempts);
  const retryAfter = retryAfterOf(attempts);
  const detail = {
    attempts: attempts.map(({ target, failure: { kind } }) => ({ target: targetId(target), kind })),
  };
  const is = (kind: FailureKind) => attempts.every((attempt) => attempt.failure.kind === kind);
  if (is('limited')) {
    const reason = 'provider_rate_limited';
    return new Fault('exhausted', message, { reason, detail, retryAfter: retryAfter ?? 1 });
  }
  if (is('late')) return new Fault('deadline', message, { reason: 'provider_timeout', detail });
  if (is('unreachable')) {
    const reason = 'provider_unreachable';
    return new Fault('unavailable', message, { reason, detail, retryAfter: retryAfter ?? 2 });
  }
  const { kind } = failure;
  const reason = (is(kind) ? answerReasons[kind] : undefined) ?? 'provider_error';
  const options = { reason, detail };
  if (retryAfter === undefined) return new Fault('upstream', message, options);
  return new Fault('unavailable', message, { ...options, retryAfter });
}

/** Where every provider answered, and none of the answers could be passed on. */
const answerReasons: Partial<Record<FailureKind, string>> = {
  oversized: 'answer_too_large',
  untranslatable: 'unsupported_answer',
};

/** What a provider finds wrong with a request has its own status there; all else is 400. */
const codesByStatus: Readonly<Record<number, Code | undefined>> = {
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
};

type Complain = (failure: UpstreamFailure, target: Target) => Fault;

const complaints: Partial<Record<FailureKind, Complain>> = {
  rejected: (failure) => {
    const { param, details } = failure;
    return new Fault(codesByStatus[failure.status ?? 400] ?? 'invalid', failure.message, {
      reason: failure.code ?? 'invalid_request',
      ...(failure.status === 422 && { status: 422 }),
      detail: { ...(param !== undefined && { param }), ...(details && { details }) },
    });
  },
  'too-long': (failure) =>
    new Fault(failure.status === 413 ? 'too_large' : 'invalid', failure.message, {
      reason: 'context_length_exceeded',
      detail: { param: 'messages' },
    }),
  filtered: (failure) =>
    new Fault('invalid', failure.message, {
      reason: 'content_filter',
      detail: { param: 'messages' },
    }),
  missing: (failure, target) =>
    new Fault(
      'not_found',
      `${target.provider.name} has no model ${target.model.name}: ${failure.message}`,
      {
        reason: 'model_not_found',
        detail: { param: 'model' },
      },
    ),
};

/** One sentence a target, its last failure. */
function describe(attempts: readonly FailedAttempt[]): string {
  const messages = new Map(
    attempts.map(({ target, failure }) => [targetId(target), wordsOf(failure)]),
  );
  return [...messages].map(([id, message]) => `${id}: ${message}`).join('; ');
}

/** What a provider says of the gateway's own key is the operator's business, in the log alone. */
function wordsOf({ kind, message }: UpstreamFailure): string {
  return kind === 'refused' ? "it refuses the gateway's key, or wants to be paid" : message;
}

function retryAfterOf(attempts: readonly FailedAttempt[]): number | undefined {
  const waits = attempts.flatMap(({ failure: { retryAfterMs } }) => retryAfterMs ?? []);
  return waits.length === 0 ? undefined : Math.max(1, Math.ceil(Math.min(...waits) / 1_000));
}
