import type { ChatRequest } from '../conversation/request.ts';
import type { DialectName } from '../dialects/dialect.ts';
import type { Target } from '../providers/provider.ts';

export type Strategy = 'cost' | 'performance' | 'quality';
export type TaskKind = 'chat' | 'code' | 'summarization';

/** What is to be routed. */
export interface RoutingQuestion {
  readonly request: ChatRequest;
  readonly strategy: Strategy;
  /** Further models to ask, in this order, when those of the request's model fail. */
  readonly fallbacks: readonly string[];
  /** Of the face: targets of this dialect get the request as it came, so nothing is unsupported. */
  readonly dialect?: DialectName | undefined;
  /**
   * Every target is told of, for people. Otherwise automatic routing among many names the first
   * dozen or so.
   */
  readonly isComplete?: boolean | undefined;
}

/** A target in the order in which it is asked, and why it stands there. */
export interface Candidate {
  readonly target: Target;
  /** US dollars that the request is expected to cost there. */
  readonly estimatedCost: number;
  /** Short sentences, for people. */
  readonly reasons: readonly string[];
}

/** A target that is not asked, and why. */
export interface Exclusion {
  readonly target: Target;
  /** `context`, `capability`, `dialect`, `quality`, `circuit` or `rate-limit`. */
  readonly rule: string;
  readonly reason: string;
}

/** Where a request goes. */
export interface Plan {
  readonly taskKind: TaskKind;
  /** Which rule found the kind. */
  readonly taskRule: string;
  readonly strategy: Strategy;
  /** Tokens that the prompt is thought to have. */
  readonly inputTokens: number;
  /** First to last; never empty. */
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  /**
   * Whom automatic routing asks once all candidates have failed, best first: those that were left
   * out for their quality alone. Empty where a caller named every model.
   */
  lastResorts(): readonly Candidate[];
}

/** Decides where requests go. */
export interface Router {
  /**
   * Throws `not_found` (`model_not_found`) for a model that nobody offers; `invalid` when nobody
   * who offers it can answer the request, with the first reason and its field; `unavailable` with
   * `retryAfter` when those who could may not be asked now.
   */
  plan(question: RoutingQuestion): Plan;
}
