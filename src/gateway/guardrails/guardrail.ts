import type { Answer, AnswerEvent } from '../conversation/answer.ts';
import type { ChatRequest } from '../conversation/request.ts';

/** A rule that looks at what goes to a provider and what comes back. */
export interface Guardrail {
  readonly name: string;
  /**
   * The request as it may be sent: the same object when nothing changed. Throws `invalid`
   * (`guardrail_refused`) with `detail.guardrail` when it may not be sent at all.
   */
  inspectRequest(request: ChatRequest): ChatRequest;
  /**
   * What the rule does with the answer to a request: asked right after `inspectRequest` with the
   * very object that it returned. Absent or undefined: it does not care.
   */
  guardAnswer?(request: ChatRequest): AnswerGuard | undefined;
}

/** Looks at the answer to one request; it must not pass through as bytes then. */
export interface AnswerGuard {
  /** The answer as the caller may have it. Throws as `inspectRequest` does. */
  inspectAnswer(answer: Answer): Answer;
  openStream(): StreamGuard;
}

/** Looks at a streamed answer; one for each stream, whichever providers it comes from. */
export interface StreamGuard {
  /** What the caller may have now: it can lag behind by a few characters. Throws to end the stream. */
  see(event: AnswerEvent): readonly AnswerEvent[];
}
