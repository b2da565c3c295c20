import type { Answer, AnswerEvent } from '../conversation/answer.ts';
import type { AssistantPart, ChatRequest } from '../conversation/request.ts';
import type { AnswerGuard, Guardrail, StreamGuard } from './guardrail.ts';
import { rewriteNeighbours } from './neighbours.ts';
import type { PersonalDataKind } from './personal-data.ts';
import { Redaction } from './redaction.ts';
import { rewriteTexts, visitTexts } from './request-texts.ts';
import { Restorer } from './restorer.ts';

/**
 * Sends placeholders in place of personal data, and puts the data back into the answer: into its text
 * and the arguments of its calls. What a model thought keeps the placeholders, because providers
 * want it back as they wrote it.
 */
export class Redactor implements Guardrail {
  readonly name = 'redaction';
  readonly #kinds: readonly PersonalDataKind[];
  readonly #redactions = new WeakMap<ChatRequest, Redaction>();

  constructor(kinds: readonly PersonalDataKind[]) {
    this.#kinds = kinds;
  }

  inspectRequest(request: ChatRequest): ChatRequest {
    const redaction = new Redaction(this.#kinds);
    visitTexts(request, (text) => redaction.avoid(text));
    const alone = rewriteTexts(request, (text) => redaction.redact(text));
    const redacted = rewriteNeighbours(alone, (texts) => redaction.redactAcross(texts));
    if (!redaction.isEmpty) this.#redactions.set(redacted, redaction);
    return redacted;
  }

  guardAnswer(request: ChatRequest): AnswerGuard | undefined {
    const redaction = this.#redactions.get(request);
    return redaction && new Restoration(redaction);
  }
}

class Restoration implements AnswerGuard {
  readonly #redaction: Redaction;

  constructor(redaction: Redaction) {
    this.#redaction = redaction;
  }

  inspectAnswer(answer: Answer): Answer {
    const restorePart = (part: AssistantPart) => this.#restorePart(part);
    const choices = answer.choices.map((choice) => ({
      ...choice,
      parts: choice.parts.map(restorePart),
    }));
    return { ...answer, choices };
  }

  openStream(): StreamGuard {
    return new RestoredStream((text) => this.#redaction.restore(text));
  }

  #restorePart(part: AssistantPart): AssistantPart {
    if (part.type === 'reasoning') return part;
    if (part.type === 'tool-call') {
      return { ...part, arguments: this.#redaction.restore(part.arguments) };
    }
    return { ...part, text: this.#redaction.restore(part.text) };
  }
}

type Piece = Extract<AnswerEvent, { readonly type: 'text' | 'refusal' | 'tool-call' }>;

/** A text of the stream that can end within a placeholder. */
interface OpenText {
  readonly restorer: Restorer;
  /** The piece that says what was held back. */
  readonly pieceOf: (text: string) => Piece;
}

class RestoredStream implements StreamGuard {
  readonly #restore: (text: string) => string;
  readonly #open = new Map<string, OpenText>();

  constructor(restore: (text: string) => string) {
    this.#restore = restore;
  }

  see(event: AnswerEvent): readonly AnswerEvent[] {
    switch (event.type) {
      case 'text':
      case 'refusal':
        return this.#seeText(event);
      case 'tool-call':
        return this.#seeCall(event);
      case 'reasoning':
      case 'finish':
        return [...this.#close(`${event.choice} `), event];
      case 'end':
        return [...this.#close(''), event];
      default:
        return [event];
    }
  }

  #seeText(event: Extract<Piece, { readonly type: 'text' | 'refusal' }>): readonly AnswerEvent[] {
    const { type, choice } = event;
    const text = this.#openText(`${choice} ${type}`, (held) => ({ type, choice, text: held }));
    const shown = text.restorer.push(event.text);
    return shown === '' && event.text !== '' ? [] : [{ ...event, text: shown }];
  }

  #seeCall(event: Extract<Piece, { readonly type: 'tool-call' }>): readonly AnswerEvent[] {
    const { type, choice, call } = event;
    const before = this.#close(`${choice} text`);
    const text = this.#openText(`${choice} call ${call}`, (held) => ({
      type,
      choice,
      call,
      arguments: held,
    }));
    return [...before, { ...event, arguments: text.restorer.push(event.arguments) }];
  }

  #openText(key: string, pieceOf: OpenText['pieceOf']): OpenText {
    const known = this.#open.get(key);
    if (known) return known;
    const opened = { restorer: new Restorer(this.#restore), pieceOf };
    this.#open.set(key, opened);
    return opened;
  }

  /** What texts whose key begins so have held back. */
  #close(keyStart: string): readonly AnswerEvent[] {
    const pieces: AnswerEvent[] = [];
    for (const [key, { restorer, pieceOf }] of this.#open) {
      if (!key.startsWith(keyStart)) continue;
      const held = restorer.end();
      if (held !== '') pieces.push(pieceOf(held));
    }
    return pieces;
  }
}
