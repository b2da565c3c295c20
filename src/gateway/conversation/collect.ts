import { UpstreamError } from '../dialects/upstream-error.ts';
import { textTokens } from '../routing/tokens.ts';
import type { Answer, AnswerEvent, Choice, Finish, Usage } from './answer.ts';
import type { AssistantPart, ReasoningPart } from './request.ts';

/**
 * The whole answer that a stream's pieces make. Throws `UpstreamError` (`truncated`) when the start
 * or the end of any choice is missing.
 */
export function collectAnswer(events: Iterable<AnswerEvent>): Answer {
  const collector = new AnswerCollector();
  for (const event of events) collector.add(event);
  return collector.answer();
}

/** Gathers an answer piece by piece, where the pieces do not come all at once. */
export class AnswerCollector {
  #start: Extract<AnswerEvent, { type: 'start' }> | undefined;
  #usage: Usage | undefined;
  readonly #choices = new Map<number, GrowingChoice>();

  add(event: AnswerEvent): void {
    if (event.type === 'start') this.#begin(event);
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type !== 'end') this.#choice(event.choice).add(event);
  }

  /** Throws `UpstreamError` (`truncated`) when the answer is not whole. */
  answer(): Answer {
    const start = this.#start;
    if (!start || this.#choices.size === 0) throw truncated();
    const choices = [...this.#choices.values()]
      .toSorted((one, other) => one.index - other.index)
      .map((choice) => choice.whole());
    const { id, model, createdAt } = start;
    return { id, model, createdAt, choices, usage: this.#usage ?? estimateUsage(choices) };
  }

  #begin(start: Extract<AnswerEvent, { type: 'start' }>): void {
    this.#start ??= start;
    this.#usage ??= start.usage;
  }

  #choice(index: number): GrowingChoice {
    let choice = this.#choices.get(index);
    if (!choice) this.#choices.set(index, (choice = new GrowingChoice(index)));
    return choice;
  }
}

/** What an answer took, as far as its own text tells: the prompt is not known here and counts 0. */
export function estimateUsage(choices: readonly Pick<Choice, 'parts'>[]): Usage {
  let tokens = 0;
  for (const { parts } of choices) for (const part of parts) tokens += tokensOf(part);
  return { inputTokens: 0, outputTokens: Math.ceil(tokens), isEstimated: true };
}

function tokensOf(part: AssistantPart): number {
  return textTokens(part.type === 'tool-call' ? part.name + part.arguments : part.text);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Growing = Mutable<AssistantPart>;
type ChoiceEvent = Extract<AnswerEvent, { choice: number }>;

class GrowingChoice {
  readonly index: number;
  readonly #parts: Growing[] = [];
  readonly #calls = new Map<number, Extract<Growing, { type: 'tool-call' }>>();
  #finish: Finish | undefined;
  #stopSequence: string | undefined;
  #logprobs: unknown;

  constructor(index: number) {
    this.index = index;
  }

  add(event: ChoiceEvent): void {
    if (event.type === 'tool-call') this.#call(event);
    else if (event.type === 'reasoning') this.#reason(event);
    else if (event.type === 'finish') {
      this.#finish = event.finish;
      this.#stopSequence = event.stopSequence;
    } else this.#say(event);
  }

  whole(): Choice {
    if (!this.#finish) throw truncated();
    for (const call of this.#calls.values()) call.arguments ||= '{}';
    return {
      index: this.index,
      parts: this.#parts,
      finish: this.#finish,
      ...(this.#stopSequence !== undefined && { stopSequence: this.#stopSequence }),
      ...(this.#logprobs !== undefined && { logprobs: this.#logprobs }),
    };
  }

  #say(event: Extract<ChoiceEvent, { type: 'text' | 'refusal' }>): void {
    if (event.type === 'text' && event.logprobs !== undefined) {
      this.#logprobs = joinLogprobs(this.#logprobs, event.logprobs);
    }
    if (event.text !== '') this.#grow(event.type, event.text);
    const last = this.#parts.at(-1);
    if (event.type === 'text' && event.citations && last?.type === 'text') {
      last.citations = [...(last.citations ?? []), ...event.citations];
    }
  }

  #grow(type: 'text' | 'refusal', text: string): void {
    const last = this.#parts.at(-1);
    if (last?.type === type) last.text += text;
    else this.#parts.push({ type, text });
  }

  #reason({ text, signature, redacted }: Extract<ChoiceEvent, { type: 'reasoning' }>): void {
    const last = this.#parts.at(-1);
    if (last?.type === 'reasoning' && isOpen(last) && redacted === undefined) {
      last.text += text;
      if (signature !== undefined) last.signature = signature;
      return;
    }
    this.#parts.push({
      type: 'reasoning',
      text,
      ...(signature !== undefined && { signature }),
      ...(redacted !== undefined && { redacted }),
    });
  }

  #call(event: Extract<ChoiceEvent, { type: 'tool-call' }>): void {
    let call = this.#calls.get(event.call);
    if (!call) {
      call = { type: 'tool-call', id: '', name: '', arguments: '' };
      this.#calls.set(event.call, call);
      this.#parts.push(call);
    }
    call.id ||= event.id ?? '';
    call.name ||= event.name ?? '';
    call.arguments += event.arguments;
    if (event.signature !== undefined) call.signature = event.signature;
  }
}

/** A signature closes a thought, and an encrypted one is whole from its start. */
function isOpen({ signature, redacted }: ReasoningPart): boolean {
  return signature === undefined && redacted === undefined;
}

/** OpenAI's `{content: [...], refusal: [...]}`: the lists grow, anything else is replaced. */
function joinLogprobs(before: unknown, piece: unknown): unknown {
  if (!isRecord(before) || !isRecord(piece)) return piece;
  const joined: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    const known = joined[name];
    if (Array.isArray(known) && Array.isArray(value)) joined[name] = [...known, ...value];
    else joined[name] = value ?? known;
  }
  return joined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function truncated(): UpstreamError {
  return UpstreamError.of('truncated', 'the answer was cut off before its end');
}
