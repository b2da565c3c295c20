import type { AnswerEvent } from '../../conversation/answer.ts';
import type { ChatRequest } from '../../conversation/request.ts';
import { textTokens } from '../../routing/tokens.ts';
import type { Candidate, Plan } from '../../routing/plan.ts';
import type { Target } from '../../providers/provider.ts';
import type { PreparedAsk } from '../ask.ts';
import type { Dialects } from '../outgoing.ts';
import { StopSeam } from './stop-seam.ts';

/** How the rest of a broken answer is asked for. */
export interface Continuation {
  readonly asked: PreparedAsk;
  /** Who goes on with an answer that stands at the end of a request. */
  readonly candidates: readonly Candidate[];
  readonly rest: Rest;
}

/** How the second half of an answer follows on the first. */
export interface Rest {
  /** Its pieces as they follow on what the caller has; asked for in order. */
  adapt(pieces: readonly AnswerEvent[]): readonly AnswerEvent[];
  /** A stop sequence has ended the answer: all that is still to come is not wanted. */
  readonly isStopped: boolean;
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
  const space = said.slice(beginning.length);
  const rest = new SecondHalf(said, { space, stops: asked.request.stop ?? [] });
  return { asked: asked.withRequest(request), candidates, rest };
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

/** Drops a second start, a space that came already, and all behind a stop sequence across the seam. */
class SecondHalf implements Rest {
  readonly #seam: StopSeam;
  #space: string;

  constructor(said: string, { space, stops }: { space: string; stops: readonly string[] }) {
    this.#seam = new StopSeam(said, stops);
    this.#space = space;
  }

  get isStopped(): boolean {
    return this.#seam.found !== undefined;
  }

  adapt(pieces: readonly AnswerEvent[]): readonly AnswerEvent[] {
    return pieces.flatMap((piece) => this.#adaptOne(piece));
  }

  #adaptOne(piece: AnswerEvent): readonly AnswerEvent[] {
    if (this.isStopped) return piece.type === 'end' ? [piece] : [];
    if (piece.type === 'start') return [];
    if (piece.type === 'usage') return [piece];
    if (piece.type === 'text') return this.#adaptText(piece);
    const held = this.#seam.end();
    return held === '' ? [piece] : [{ type: 'text', choice: 0, text: held }, piece];
  }

  #adaptText(piece: Extract<AnswerEvent, { readonly type: 'text' }>): readonly AnswerEvent[] {
    const text = this.#seam.push(this.#withoutSpace(piece.text));
    const { found } = this.#seam;
    if (found !== undefined) return endAt(found);
    if (text === piece.text) return [piece];
    return text === '' ? [] : [{ ...piece, text }];
  }

  #withoutSpace(text: string): string {
    const space = this.#space;
    this.#space = '';
    return text.startsWith(space) ? text.slice(space.length) : text;
  }
}

/** The end of an answer that its provider does not know of, and so does not count. */
function endAt(stopSequence: string): readonly AnswerEvent[] {
  return [
    { type: 'finish', choice: 0, finish: 'stop', stopSequence },
    { type: 'usage', usage: { inputTokens: 0, outputTokens: 0, isEstimated: true } },
  ];
}
