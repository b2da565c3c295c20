import type { CachedAnswer } from '../cache/answer-cache.ts';
import type { Answer } from '../conversation/answer.ts';
import { parseExact } from '../dialects/exact-json.ts';
import type { Face } from '../faces/face.ts';
import type { AnswerSources } from './answer-sources.ts';
import type { Dialects } from './outgoing.ts';
import type { From } from './wording.ts';

/** Whether an answer came to its own end, so that others may have it too. */
export function isWhole({ choices }: Answer): boolean {
  return choices.every(({ finish }) => finish === 'stop' || finish === 'tool-calls');
}

/** What the cache keeps of an answer: as its face worded it, so that a hit is sent as it is. */
export function toCached(
  body: Buffer,
  { target: { provider, model }, usage: { inputTokens, outputTokens } }: From,
  sources: AnswerSources,
): CachedAnswer {
  const source = sources.of(provider);
  return { body, provider: provider.name, model: model.name, source, inputTokens, outputTokens };
}

/** A cached answer in no dialect's words, to be told anew as a stream. */
export function readCached(face: Face, dialects: Dialects, body: Buffer): Answer {
  const value = parseExact(body.toString());
  if (face.dialect) return dialects[face.dialect].readAnswer(value);
  return (value as { answer: Answer }).answer;
}
