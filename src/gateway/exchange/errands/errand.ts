import type { Cancellation } from '../../../kit/cancellation.ts';
import type { Span } from '../../../kit/trace/trace.ts';
import type { Usage } from '../../conversation/answer.ts';
import type { Dialect, ErrandDialect } from '../../dialects/dialect.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { Payer } from '../../money/purse.ts';
import type { Capability, Provider, Target } from '../../providers/provider.ts';
import type { Operation } from '../attempts/attempt-span.ts';

/** What is asked of a model and is no chat: texts become vectors, a prompt becomes pictures. */
export interface Errand<Request extends ErrandRequest, Made> {
  /** That a model must have. */
  readonly capability: Capability;
  readonly operation: Operation;
  /** What is made, in the plural, for refusals: `embeddings`. */
  readonly made: string;
  /** The field with the texts, for complaints about them. */
  readonly textField: string;
  /** How a dialect says it; undefined where it has no words for it. */
  wordsOf(dialect: Dialect): ErrandDialect<Request, Made> | undefined;
  /** How it goes in several calls; absent where one call is always enough. */
  readonly batches?: Batches<Request, Made>;
  /** The request as it may be sent; throws `invalid` (`guardrail_refused`) where it may not be. */
  guard(guardrails: readonly Guardrail[], request: Request): Request;
  /** What it is likely to take. */
  likely(request: Request): Usage;
  /** What it took. */
  usageOf(made: Made, request: Request): Usage;
}

/** Who says how much one call may hold. */
export interface CallLimits {
  readonly dialect: Dialect;
  readonly provider: Pick<Provider, 'limits'>;
}

/** Errands that are too large for one call to some providers. */
export interface Batches<Request, Made> {
  /** The requests to be sent in place of one, at least one, in the order of what is asked. */
  cut(request: Request, by: CallLimits): readonly Request[];
  /** What was made of each, in their order, as if it were made of the one. */
  join(made: readonly Made[], request: Request): Made;
}

export interface ErrandRequest {
  /** A name, `<provider>/<name>`, or `auto-route`. */
  readonly model: string;
}

export interface ErrandAsk<Request> {
  readonly request: Request;
  readonly payer: Payer;
  readonly span: Span;
  readonly cancellation: Cancellation;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

/** What a provider made. */
export interface Brought<Made> {
  readonly made: Made;
  /** In which it said so; absent where it took more than one call. */
  readonly bytes: Buffer | undefined;
}

export interface ErrandAnswer<Made> extends Brought<Made> {
  readonly target: Target;
  readonly usage: Usage;
  /** US dollars. */
  readonly cost: number;
  /** How many times a provider was asked. */
  readonly attempts: number;
}
