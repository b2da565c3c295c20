import type { Answer } from '../conversation/answer.ts';
import type { ChatRequest, Message } from '../conversation/request.ts';
import type { AnswerGuard, Guardrail, StreamGuard } from './guardrail.ts';

/** What all guardrails together made of one request. */
export interface GuardedRequest {
  /** The object that was given when nothing changed; else its bytes as they came must not be sent. */
  readonly request: ChatRequest;
  /** Absent when no rule wants to see the answer, which may pass through as bytes then. */
  readonly answer: AnswerGuard | undefined;
}

/** Takes a request through the guardrails in order; its answer goes through them in reverse. */
export function guardRequest(
  guardrails: readonly Guardrail[],
  request: ChatRequest,
): GuardedRequest {
  const guards: AnswerGuard[] = [];
  let guarded = request;
  for (const guardrail of guardrails) {
    guarded = guardrail.inspectRequest(guarded);
    const guard = guardrail.guardAnswer?.(guarded);
    if (guard) guards.unshift(guard);
  }
  return { request: guarded, answer: guards.length > 0 ? joinGuards(guards) : undefined };
}

/** Texts that are no messages, and the fields beside them. */
export interface LooseTexts {
  readonly model: string;
  readonly texts: readonly string[];
  readonly fields: ChatRequest['extras'];
}

/** Takes texts through the same rules, as messages of a chat; undefined when nothing changed. */
export function guardTexts(
  guardrails: readonly Guardrail[],
  { model, texts, fields }: LooseTexts,
): LooseTexts | undefined {
  if (guardrails.length === 0) return undefined;
  const messages = texts.map((text): Message => ({
    role: 'user',
    parts: [{ type: 'text', text }],
  }));
  const chat: ChatRequest = { model, messages, tools: [], isStream: false, extras: fields };
  const guarded = guardrails.reduce((sent, guardrail) => guardrail.inspectRequest(sent), chat);
  if (guarded === chat) return undefined;
  return { model, texts: texts.map((_, at) => textOf(guarded, at)), fields: guarded.extras };
}

function textOf({ messages }: ChatRequest, at: number): string {
  const [part] = messages[at]?.parts ?? [];
  return part?.type === 'text' ? part.text : '';
}

function joinGuards(guards: readonly AnswerGuard[]): AnswerGuard {
  return {
    inspectAnswer: (answer) =>
      guards.reduce<Answer>((seen, guard) => guard.inspectAnswer(seen), answer),
    openStream: () => joinStreams(guards.map((guard) => guard.openStream())),
  };
}

function joinStreams(streams: readonly StreamGuard[]): StreamGuard {
  const [only] = streams;
  if (only && streams.length === 1) return only;
  return {
    see: (event) =>
      streams.reduce((events, stream) => events.flatMap((one) => stream.see(one)), [event]),
  };
}
