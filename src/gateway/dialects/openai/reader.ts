import type { ServerEvent } from '../../../kit/sse.ts';
import type { AnswerEvent } from '../../conversation/answer.ts';
import type { AnswerReader } from '../dialect.ts';
import { UpstreamError } from '../upstream-error.ts';
import { argumentsText, errorInside, newCallId } from './answer.ts';
import { finishOf } from './finish.ts';
import { countIn, isObject, listIn, objectIn, textIn, type Json } from './json-values.ts';
import { providedSignature, providedThoughts, thinkingText } from './reasoning.ts';
import { usageIn } from './usage.ts';

/** The chunk of an event; undefined for `[DONE]` and for an event that holds nothing. */
export function parseChunk(data: string): Json | undefined {
  const text = data.trim();
  if (text === '' || text === '[DONE]') return undefined;
  let chunk: unknown;
  try {
    chunk = JSON.parse(text);
  } catch (cause) {
    throw UpstreamError.of('broken', 'the provider sent an event that is not JSON', { cause });
  }
  // Gemini wraps an error of its OpenAI-compatible endpoint in a list.
  const [single] = listIn(chunk);
  if (isObject(single)) chunk = single;
  if (!isObject(chunk)) throw UpstreamError.of('broken', 'the provider sent no JSON object');
  const error = errorInside(chunk);
  if (error) throw error;
  return chunk;
}

/** Throws the error that an event of the type `error` carries in any form. */
export function refuseErrorEvent(event: string | undefined, chunk: Json): void {
  if (event !== 'error') return;
  const error = errorInside({ error: chunk });
  if (error) throw error;
}

/** Reads a streamed chat completion of any OpenAI-compatible server. */
export class OpenAiReader implements AnswerReader {
  readonly #choices = new Map<number, Calls>();
  #isStarted = false;

  read({ data, event }: ServerEvent): readonly AnswerEvent[] {
    const chunk = parseChunk(data);
    if (!chunk) return data.trim() === '' ? [] : [{ type: 'end' }];
    refuseErrorEvent(event, chunk);
    const events: AnswerEvent[] = [];
    const choices = listIn(chunk['choices']);
    if (!this.#isStarted && (choices.length > 0 || textIn(chunk['id']) !== undefined)) {
      this.#isStarted = true;
      events.push(startOf(chunk));
    }
    for (const choice of choices) if (isObject(choice)) this.#readChoice(choice, events);
    const usage = usageIn(chunk);
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  #readChoice(choice: Json, events: AnswerEvent[]): void {
    const index = countIn(choice['index']) ?? 0;
    // Some servers end with a whole message in place of a delta.
    const delta = objectIn(choice['delta'] ?? choice['message']);
    readTexts({ delta, index, logprobs: choice['logprobs'] ?? undefined }, events);
    for (const call of listIn(delta['tool_calls'])) {
      events.push(this.#callsOf(index).read(objectIn(call), index));
    }
    const reason = textIn(choice['finish_reason']);
    if (reason === undefined) return;
    const finish = finishOf(reason, this.#choices.has(index));
    events.push({ type: 'finish', choice: index, finish });
  }

  #callsOf(choice: number): Calls {
    let calls = this.#choices.get(choice);
    if (!calls) this.#choices.set(choice, (calls = new Calls()));
    return calls;
  }
}

function startOf(chunk: Json): AnswerEvent {
  return {
    type: 'start',
    id: textIn(chunk['id']) ?? '',
    model: textIn(chunk['model']) ?? '',
    createdAt: countIn(chunk['created']) ?? 0,
  };
}

interface Said {
  readonly delta: Json;
  readonly index: number;
  readonly logprobs: unknown;
}

function readTexts({ delta, index, logprobs }: Said, events: AnswerEvent[]): void {
  for (const thought of providedThoughts(delta)) {
    events.push({ type: 'reasoning', choice: index, ...thought });
  }
  const { content } = delta;
  const text = typeof content === 'string' ? content : '';
  if (text !== '' || logprobs !== undefined) {
    const extra = logprobs === undefined ? undefined : { logprobs };
    events.push({ type: 'text', choice: index, text, ...extra });
  }
  for (const item of listIn(content)) readItem(objectIn(item), index, events);
  const refusal = textIn(delta['refusal']);
  if (refusal !== undefined) events.push({ type: 'refusal', choice: index, text: refusal });
}

/** Mistral's parts of a content. */
function readItem(part: Json, choice: number, events: AnswerEvent[]): void {
  if (part['type'] === 'thinking') {
    events.push({ type: 'reasoning', choice, text: thinkingText(part) });
    return;
  }
  const text = textIn(part['text']);
  if (text !== undefined) events.push({ type: 'text', choice, text });
}

/**
 * Which call a piece belongs to. OpenAI numbers them; others leave the number out, or give every
 * call the same one, and only a new id tells them apart.
 */
class Calls {
  readonly #byIndex = new Map<number, { readonly call: number; readonly id: string | undefined }>();
  #count = 0;
  #last = 0;

  read(piece: Json, choice: number): AnswerEvent {
    if (piece['type'] === 'custom') {
      throw UpstreamError.of('broken', 'a call of the type custom cannot be translated');
    }
    const id = textIn(piece['id']);
    const { call, isNew } = this.#find(countIn(piece['index']), id);
    const named = objectIn(piece['function']);
    const name = textIn(named['name']);
    const signature = providedSignature(piece['extra_content']);
    return {
      type: 'tool-call',
      choice,
      call,
      ...(isNew && { id: id ?? newCallId(), name: name ?? '' }),
      arguments: argumentsText(named['arguments']),
      ...(signature !== undefined && { signature }),
    };
  }

  #find(index: number | undefined, id: string | undefined): { call: number; isNew: boolean } {
    const key = index ?? this.#keyOf(id);
    this.#last = key;
    const known = this.#byIndex.get(key);
    if (known && (id === undefined || known.id === undefined || known.id === id)) {
      return { call: known.call, isNew: false };
    }
    const call = this.#count;
    this.#count += 1;
    this.#byIndex.set(key, { call, id });
    return { call, isNew: true };
  }

  #keyOf(id: string | undefined): number {
    if (id === undefined) return this.#last;
    for (const [key, known] of this.#byIndex) if (known.id === id) return key;
    return this.#count;
  }
}
