import type { ReasoningPart } from '../../conversation/request.ts';
import { markSignature } from '../signatures.ts';
import { isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';

/** A thought with what proves it. */
export type Thought = Omit<ReasoningPart, 'type'>;

/**
 * The thoughts of a message or delta: OpenRouter's `reasoning_details` where there are any, else
 * `reasoning_content` (DeepSeek, vLLM and most) or `reasoning` (OpenRouter, Groq, newer vLLM).
 */
export function thoughtsIn(message: Json): readonly Thought[] {
  const text = textIn(message['reasoning_content']) ?? textIn(message['reasoning']);
  const detailed = listIn(message['reasoning_details']).flatMap(readDetail);
  if (detailed.length > 0) return withText(detailed, text);
  return text === undefined ? none : [{ text }];
}

/** A streamed thought's details may hold the proof alone, where a client did not join the pieces. */
function withText(details: readonly Thought[], text: string | undefined): readonly Thought[] {
  if (text === undefined || details.some((detail) => detail.text !== '')) return details;
  const at = details.findIndex(({ redacted }) => redacted === undefined);
  return at < 0
    ? details
    : details.map((detail, index) => (index === at ? { ...detail, text } : detail));
}

/** The same from a provider: proofs are marked, lest another provider gets them back. */
export function providedThoughts(message: Json): readonly Thought[] {
  return thoughtsIn(message).map(({ text, signature, redacted }) => ({
    text,
    ...(signature !== undefined && { signature: markSignature('openai', signature) }),
    ...(redacted !== undefined && { redacted: markSignature('openai', redacted) }),
  }));
}

/** Gemini's thought signature, as its OpenAI-compatible endpoint carries it at a call. */
export function signatureIn(extraContent: unknown): string | undefined {
  return textIn(recordIn(recordIn(extraContent)['google'])['thought_signature']);
}

/** The same from a provider, marked. */
export function providedSignature(extraContent: unknown): string | undefined {
  const signature = signatureIn(extraContent);
  return signature === undefined ? undefined : markSignature('openai', signature);
}

/** The text of Mistral's `thinking` part of a content. */
export function thinkingText(part: Json): string {
  if (typeof part['thinking'] === 'string') return part['thinking'];
  return listIn(part['thinking'])
    .map((piece) => (isRecord(piece) ? (textIn(piece['text']) ?? '') : ''))
    .join('');
}

/** Fields of an assistant's message or delta that say thoughts; our own words, which we read too. */
export function writeThoughts(thoughts: readonly Thought[]): Record<string, unknown> {
  if (thoughts.length === 0) return {};
  const text = thoughts.map((thought) => thought.text).join('');
  const needsProof = thoughts.some(
    ({ signature, redacted }) => signature !== undefined || redacted !== undefined,
  );
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(needsProof && { reasoning_details: thoughts.map(writeDetail) }),
  };
}

const none: readonly Thought[] = [];

function readDetail(detail: unknown): Thought[] {
  if (!isRecord(detail)) return [];
  const signature = textIn(detail['signature']);
  const proof = signature === undefined ? undefined : { signature };
  switch (detail['type']) {
    case 'reasoning.text':
      return [{ text: textIn(detail['text']) ?? '', ...proof }];
    case 'reasoning.summary':
      return [{ text: textIn(detail['summary']) ?? '' }];
    case 'reasoning.encrypted':
      return [{ text: '', redacted: textIn(detail['data']) ?? '' }];
    default:
      return [];
  }
}

function writeDetail({ text, signature, redacted }: Thought): Record<string, unknown> {
  if (redacted !== undefined) return { type: 'reasoning.encrypted', data: redacted };
  return { type: 'reasoning.text', text, ...(signature !== undefined && { signature }) };
}
