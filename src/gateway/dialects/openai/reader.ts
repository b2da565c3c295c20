import type { ServerEvent } from '../../../kit/answers/sse.ts';
import type { AnswerEvent } from '../../conversation/answer.ts';
import type { AnswerReader } from '../dialect.ts';
import { parseExact } from '../exact-json.ts';
import { UpstreamError } from '../upstream-error.ts';
import {
  argumentsText,
  callsIn,
  errorInside,
  newCallId,
  refuseAudio,
  refuseImages,
} from './answer.ts';
import { citationsIn } from './citations.ts';
import { finishOf } from './finish.ts';
import { readHead } from './head.ts';
import { isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { countIn } from './count-in.ts';
import { providedSignature, providedThoughts, thinkingText } from './reasoning.ts';
import { usageIn } from './usage.ts';

/** Arguments that are no text, as some servers send them. */
const argumentsObject = /"arguments"\s*:\s*\{/;

/** The chunk of an event; undefined for `[DONE]` and for an event that holds nothing. */
export function parseChunk(data: string): Json | undefined {
  const text = data.trim();
  if (text === '' || text === '[DONE]') return undefined;
  let chunk: unknown;
  try {
    chunk = argumentsObject.test(text) ? parseExact(text) : JSON.parse(text);
  } catch (cause) {
    throw UpstreamError.of('broken', 'the provider sent an event that is not JSON', { cause });
  }
  // Gemini wraps an error of its OpenAI-compatible endpoint in a list.
  const [single] = listIn(chunk);
  if (isRecord(single)) chunk = single;
  if (!isRecord(chunk)) throw UpstreamError.of('broken', 'the provider sent no JSON object');
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
  readonly #unfinished = new Set<number>();
  readonly #finished = new Set<number>();
  #isStarted = false;

  read({ data, event }: ServerEvent): readonly AnswerEvent[] {
    const chunk = parseChunk(data);
    if (!chunk) return data.trim() !== '' && this.#isFinished ? [{ type: 'end' }] : [];
    refuseErrorEvent(event, chunk);
    const events: AnswerEvent[] = [];
    const choices = listIn(chunk['choices']);
    if (!this.#isStarted && (choices.length > 0 || textIn(chunk['id']) !== undefined)) {
      this.#isStarted = true;
      events.push({ type: 'start', ...readHead(chunk) });
    }
    for (const choice of choices) if (isRecord(choice)) this.#readChoice(choice, events);
    const usage = usageIn(chunk);
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  /** `[DONE]` ends nothing where a choice has not said why it ended: it was cut off. */
  get #isFinished(): boolean {
    return this.#finished.size > 0 && this.#unfinished.size === 0;
  }

  #readChoice(choice: Json, events: AnswerEvent[]): void {
    const index = countIn(choice['index']) ?? 0;
    // Some servers end with a whole message in place of a delta.
    const delta = recordIn(choice['delta'] ?? choice['message']);
    readTexts({ delta, index, logprobs: choice['logprobs'] ?? undefined }, events);
    refuseAudio(delta);
    refuseImages(delta);
    for (const call of callsIn(delta)) {
      const event = this.#callsOf(index).read(recordIn(call), index);
      if (event) events.push(event);
    }
    const reason = textIn(choice['finish_reason']);
    if (reason === undefined) {
      if (!this.#finished.has(index)) this.#unfinished.add(index);
      return;
    }
    this.#unfinished.delete(index);
    this.#finished.add(index);
    this.#choices.get(index)?.requireNames();
    const finish = finishOf(reason, this.#choices.has(index));
    events.push({ type: 'finish', choice: index, finish });
  }

  #callsOf(choice: number): Calls {
    let calls = this.#choices.get(choice);
    if (!calls) this.#choices.set(choice, (calls = new Calls()));
    return calls;
  }
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
  const citations = citationsIn(delta);
  if (text !== '' || logprobs !== undefined || citations) {
    const extra = {
      ...(citations && { citations }),
      ...(logprobs !== undefined && { logprobs }),
    };
    events.push({ type: 'text', choice: index, text, ...extra });
  }
  for (const item of listIn(content)) readItem(recordIn(item), index, events);
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

interface Call {
  readonly call: number;
  readonly id: string | undefined;
  /** What came before the name did; undefined once it is told. */
  held: { arguments: string; signature: string | undefined } | undefined;
}

/**
 * Which call a piece belongs to. OpenAI numbers them; others leave the number out, or give every
 * call the same one, and only a new id tells them apart. A call is told once its name is there.
 */
class Calls {
  readonly #byIndex = new Map<number, Call>();
  readonly #nameless = new Set<Call>();
  #count = 0;
  #last = 0;

  /** Undefined while the name of its call is still to come. */
  read(piece: Json, choice: number): AnswerEvent | undefined {
    if (piece['type'] === 'custom') {
      throw UpstreamError.of('untranslatable', 'a call of the type custom cannot be translated');
    }
    const found = this.#find(countIn(piece['index']), textIn(piece['id']));
    const { call, held } = found;
    const named = recordIn(piece['function']);
    const name = textIn(named['name']);
    const json = (held?.arguments ?? '') + argumentsText(named['arguments']);
    const signature = providedSignature(piece['extra_content']) ?? held?.signature;
    if (held && name === undefined) {
      found.held = { arguments: json, signature };
      this.#nameless.add(found);
      return undefined;
    }
    found.held = undefined;
    this.#nameless.delete(found);
    return {
      type: 'tool-call',
      choice,
      call,
      ...(held && { id: found.id ?? newCallId(), name }),
      arguments: json,
      ...(signature !== undefined && { signature }),
    };
  }

  /** Throws `broken` where the answer ends with a call that nobody could make. */
  requireNames(): void {
    if (this.#nameless.size > 0) throw UpstreamError.of('broken', 'a tool call has no name');
  }

  #find(index: number | undefined, id: string | undefined): Call {
    const key = index ?? this.#keyOf(id);
    this.#last = key;
    const known = this.#byIndex.get(key);
    if (known && (id === undefined || known.id === undefined || known.id === id)) return known;
    const call: Call = {
      call: this.#count,
      id,
      held: { arguments: '', signature: undefined },
    };
    this.#count += 1;
    this.#byIndex.set(key, call);
    return call;
  }

  #keyOf(id: string | undefined): number {
    if (id === undefined) return this.#last;
    for (const [key, known] of this.#byIndex) if (known.id === id) return key;
    return this.#count;
  }
}
