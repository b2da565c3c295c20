import type { ServerEvent } from '../../../kit/answers/sse.ts';
import type { AnswerEvent } from '../../conversation/answer.ts';
import type { AnswerReader } from '../dialect.ts';
import { writeExact } from '../exact-json.ts';
import { isRecord, parsePiece, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { cutOff, readFinish, readUsage } from './answer.ts';
import { readStreamFailure } from './failure.ts';

interface OpenCall {
  readonly call: number;
  hasArguments: boolean;
}

/** Reads the events of a streamed message; those of an unknown kind are skipped, as Anthropic asks. */
export class MessageReader implements AnswerReader {
  readonly #calls = new Map<unknown, OpenCall>();
  #usage: Json = {};
  #isFinished = false;

  read({ data }: ServerEvent): readonly AnswerEvent[] {
    const event = parsePiece(data, 'tool_use');
    switch (event.type) {
      case 'message_start':
        return this.#start(recordIn(event.message));
      case 'content_block_start':
        return this.#open(event.index, recordIn(event.content_block));
      case 'content_block_delta':
        return this.#grow(event.index, recordIn(event.delta));
      case 'content_block_stop':
        return this.#close(event.index);
      case 'message_delta':
        return this.#finish(recordIn(event.delta), recordIn(event.usage));
      case 'message_stop':
        return this.#end();
      case 'error':
        throw new UpstreamError(readStreamFailure(event));
      default:
        return [];
    }
  }

  #start(message: Json): AnswerEvent[] {
    this.#usage = recordIn(message.usage);
    return [
      {
        type: 'start',
        id: textIn(message.id) ?? '',
        model: textIn(message.model) ?? '',
        createdAt: Math.floor(Date.now() / 1000),
        ...(isRecord(message.usage) ? { usage: readUsage(message.usage) } : {}),
      },
    ];
  }

  #open(index: unknown, block: Json): AnswerEvent[] {
    if (block.type === 'tool_use') return [this.#openCall(index, block)];
    if (block.type === 'redacted_thinking')
      return [{ type: 'reasoning', choice: 0, text: '', redacted: textIn(block.data) ?? '' }];
    return readText(block.text) ?? readThought(block.thinking, block.signature) ?? [];
  }

  #openCall(index: unknown, { id, name, input }: Json): AnswerEvent {
    if (typeof id !== 'string' || typeof name !== 'string')
      throw UpstreamError.of('broken', 'a tool call in the answer has no id or no name');
    const call = this.#calls.size;
    // Providers that only look like Anthropic send the whole input at once.
    const hasArguments = Object.keys(recordIn(input)).length > 0;
    this.#calls.set(index, { call, hasArguments });
    const text = hasArguments ? writeExact(input) : '';
    return { type: 'tool-call', choice: 0, call, id, name, arguments: text };
  }

  #grow(index: unknown, delta: Json): AnswerEvent[] {
    if (delta.type === 'input_json_delta') return this.#growCall(index, delta.partial_json);
    return readText(delta.text) ?? readThought(delta.thinking, delta.signature) ?? [];
  }

  #growCall(index: unknown, json: unknown): AnswerEvent[] {
    const open = this.#calls.get(index);
    const text = textIn(json);
    if (!open || text === undefined) return [];
    open.hasArguments = true;
    return [{ type: 'tool-call', choice: 0, call: open.call, arguments: text }];
  }

  /** A call without arguments has no pieces of them, but an empty object is meant. */
  #close(index: unknown): AnswerEvent[] {
    const open = this.#calls.get(index);
    if (!open || open.hasArguments) return [];
    return [{ type: 'tool-call', choice: 0, call: open.call, arguments: '{}' }];
  }

  #finish(delta: Json, usage: Json): AnswerEvent[] {
    this.#usage = mergeUsage(this.#usage, usage);
    const events: AnswerEvent[] = [];
    // Without a count of the answer, what the start says of the prompt is all that is known.
    if (typeof usage.output_tokens === 'number')
      events.push({ type: 'usage', usage: readUsage(this.#usage) });
    if (delta.stop_reason === null || delta.stop_reason === undefined) return events;
    this.#isFinished = true;
    const finish = readFinish(delta.stop_reason);
    const stopSequence = textIn(delta.stop_sequence);
    events.unshift({
      type: 'finish',
      choice: 0,
      finish,
      ...(stopSequence ? { stopSequence } : {}),
    });
    return events;
  }

  #end(): AnswerEvent[] {
    if (this.#isFinished) return [{ type: 'end' }];
    throw cutOff();
  }
}

/** What a later event counts replaces what an earlier one did; null says nothing. */
export function mergeUsage(earlier: Json, later: Json): Json {
  const merged: Record<string, unknown> = { ...earlier };
  for (const name in later) if (later[name] !== null) merged[name] = later[name];
  return merged;
}

function readText(value: unknown): AnswerEvent[] | undefined {
  const text = textIn(value);
  return text === undefined ? undefined : [{ type: 'text', choice: 0, text }];
}

function readThought(thinking: unknown, signed: unknown): AnswerEvent[] | undefined {
  const text = textIn(thinking) ?? '';
  const signature = textIn(signed);
  if (text === '' && signature === undefined) return undefined;
  return [{ type: 'reasoning', choice: 0, text, ...(signature ? { signature } : {}) }];
}
