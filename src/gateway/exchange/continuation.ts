import type { AnswerEvent } from '../conversation/answer.ts';
import type { ChatRequest } from '../conversation/request.ts';
import { textTokens } from '../routing/tokens.ts';
import type { Candidate, Plan } from '../routing/plan.ts';
import type { Target } from '../providers/provider.ts';
import type { PreparedAsk } from './ask.ts';
import type { Dialects } from './outgoing.ts';

/** How the rest of a broken answer is asked for. */
export interface Continuation {
  readonly asked: PreparedAsk;
  /** Who goes on with an answer that stands at the end of a request. */
  readonly candidates: readonly Candidate[];
  /** The rest's pieces as they follow on what the caller has; asked for in order. */
  readonly adapt: (pieces: readonly AnswerEvent[]) => readonly AnswerEvent[];
}

export interface Broken {
  readonly soFar: readonly AnswerEvent[];
  /** Who broke it off, in this request. */
  readonly failed: ReadonlySet<Target>;
}

/** The way to finish a broken answer; undefined where nobody could without it being noticed. */
export function planContinuation(
  asked: PreparedAsk,
  broken: Broken,
  { plan, dialects }: { readonly plan: Plan; readonly dialects: Dialects },
): Continuation | undefined {
  const said = textOf(broken.soFar);
  if (said === undefined || !canGoOn(asked.request)) return undefined;
  // Anthropic refuses a beginning that ends with white space.
  const beginning = said.trimEnd();
  const request = withBeginning(asked.request, beginning);
  const candidates = plan.candidates.filter(({ target }) => {
    const dialect = dialects[target.provider.dialect];
    if (broken.failed.has(target) || !dialect.continuesAnswers) return false;
    return dialect.unsupported(request, target.model.name) === undefined;
  });
  if (candidates.length === 0) return undefined;
  const adapt = adapter(said.slice(beginning.length));
  return { asked: asked.withRequest(request), candidates, adapt };
}

/** The text that came; undefined when there is none, or something that cannot be gone on with. */
function textOf(soFar: readonly AnswerEvent[]): string | undefined {
  let text = '';
  for (const piece of soFar) {
    if (piece.type === 'text' && piece.choice === 0) text += piece.text;
    else if (piece.type !== 'start' && piece.type !== 'usage') return undefined;
  }
  return text.trim() === '' ? undefined : text;
}

function canGoOn({ choices = 1, output, reasoning }: ChatRequest): boolean {
  return choices === 1 && output === undefined && reasoning === undefined;
}

function withBeginning(request: ChatRequest, text: string): ChatRequest {
  const { maxTokens } = request;
  return {
    ...request,
    messages: [...request.messages, { role: 'assistant', parts: [{ type: 'text', text }] }],
    ...(maxTokens === undefined
      ? {}
      : { maxTokens: Math.max(1, maxTokens - Math.ceil(textTokens(text))) }),
  };
}

/** Drops a second start and a space that came already. */
function adapter(space: string) {
  let mustTrim = space !== '';
  return (pieces: readonly AnswerEvent[]): readonly AnswerEvent[] =>
    pieces.flatMap((piece): readonly AnswerEvent[] => {
      if (piece.type === 'start') return [];
      if (piece.type !== 'text' || !mustTrim) return [piece];
      mustTrim = false;
      const text = piece.text.startsWith(space) ? piece.text.slice(space.length) : piece.text;
      return text === '' ? [] : [{ ...piece, text }];
    });
}
