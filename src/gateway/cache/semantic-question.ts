import type { CacheQuestion } from './answer-cache.ts';
import { cacheKeyOf, type Scope } from './cache-key.ts';
import { decisiveWords, orderedWords } from './semantic-guard.ts';

/** A request split into what its user asked last and everything else. */
export interface SemanticQuestion {
  readonly tenant: string;
  /** A hash of everything else: only questions of one frame are ever compared. */
  readonly frame: string;
  readonly text: string;
  /** What must be the same word for word, as one text. */
  readonly decisive: string;
  /** Those of them that both questions have must stand in the same order. */
  readonly words: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** Of longer texts, one vector says too little; it bounds what the guard costs too. */
const textLengthMax = 2_048;

/** Undefined when the last message is not one text of the user's. */
export function readSemanticQuestion(
  { tenant, body }: CacheQuestion,
  scope: Scope,
): SemanticQuestion | undefined {
  const split = splitBody(body);
  if (!split || split.text.length > textLengthMax || split.text.trim() === '') return undefined;
  // The face's own names never begin like this, so that no frame is the key of a request.
  const frame = cacheKeyOf({ ...scope, face: `semantic ${scope.face}` }, split.rest);
  const { text } = split;
  const decisive = JSON.stringify(decisiveWords(text));
  return { tenant, frame, text, decisive, words: orderedWords(text) };
}

interface Split {
  readonly text: string;
  readonly rest: Json;
}

function splitBody(body: Json): Split | undefined {
  const name = 'messages' in body ? 'messages' : 'input';
  const list = body[name];
  if (name === 'input' && typeof list === 'string') {
    return { text: list, rest: { ...body, input: 0 } };
  }
  if (!Array.isArray(list)) return undefined;
  const last = splitMessage(list.at(-1));
  if (!last) return undefined;
  return { text: last.text, rest: { ...body, [name]: [...list.slice(0, -1), last.rest] } };
}

function splitMessage(message: unknown): Split | undefined {
  if (!isObject(message) || message['role'] !== 'user') return undefined;
  const { content } = message;
  if (typeof content === 'string') return { text: content, rest: { ...message, content: 0 } };
  if (!Array.isArray(content)) return undefined;
  const texts = content.filter((part) => isObject(part) && typeof part['text'] === 'string');
  const [part] = texts as Json[];
  if (texts.length !== 1 || !part) return undefined;
  const parts: unknown[] = content.map((one) => (one === part ? { ...part, text: 0 } : one));
  return { text: String(part['text']), rest: { ...message, content: parts } };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
