import type { Answer, AnswerEvent } from '../conversation/answer.ts';
import type { ChatRequest } from '../conversation/request.ts';
import type { AnswerGuard, Guardrail, StreamGuard } from './guardrail.ts';
import { guardrailRefusal } from './refusal.ts';
import { visitTexts } from './request-texts.ts';

/** Characters, as UTF-16 counts them; absent: as many as come. */
export interface SizeLimits {
  readonly requestCharsMax: number | undefined;
  readonly answerCharsMax: number | undefined;
}

const name = 'size';

/** Bounds the text of a request and of its answer, all choices together. */
export class SizeLimit implements Guardrail, AnswerGuard {
  readonly name = name;
  readonly #requestMax: number;
  readonly #answerMax: number;

  constructor({ requestCharsMax, answerCharsMax }: SizeLimits) {
    this.#requestMax = requestCharsMax ?? Number.POSITIVE_INFINITY;
    this.#answerMax = answerCharsMax ?? Number.POSITIVE_INFINITY;
  }

  inspectRequest(request: ChatRequest): ChatRequest {
    let chars = 0;
    if (this.#requestMax < Number.POSITIVE_INFINITY) {
      visitTexts(request, (text) => (chars += text.length));
    }
    if (chars <= this.#requestMax) return request;
    const sizes = `${chars} characters, and ${this.#requestMax} are allowed`;
    throw guardrailRefusal(`the request's text has ${sizes}`, {
      guardrail: name,
      rule: 'request',
      param: 'messages',
    });
  }

  guardAnswer(): AnswerGuard | undefined {
    return this.#answerMax < Number.POSITIVE_INFINITY ? this : undefined;
  }

  inspectAnswer(answer: Answer): Answer {
    const parts = answer.choices.flatMap((choice) => choice.parts);
    this.#allow(parts.reduce((chars, part) => chars + charsOf(part), 0));
    return answer;
  }

  openStream(): StreamGuard {
    let chars = 0;
    return {
      see: (event) => {
        chars += charsOf(event);
        this.#allow(chars);
        return [event];
      },
    };
  }

  #allow(chars: number): void {
    if (chars <= this.#answerMax) return;
    throw guardrailRefusal(`the answer is longer than ${this.#answerMax} characters`, {
      guardrail: name,
      rule: 'answer',
    });
  }
}

function charsOf(piece: AnswerEvent | Answer['choices'][number]['parts'][number]): number {
  if ('text' in piece) return piece.text.length;
  return piece.type === 'tool-call' ? piece.arguments.length : 0;
}
