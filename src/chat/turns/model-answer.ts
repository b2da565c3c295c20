import { Fault } from '../../kit/errors.ts';
import type { ToolCall, Usage } from '../conversations/conversation.ts';
import type { CallPiece, ChunkListener } from './chunk-reader.ts';

/** Told of each piece of an answer as it comes. */
export interface PieceListener {
  onModel(model: string): void;
  onText(content: string): void;
  onThought(content: string): void;
}

/** As much as a message holds. */
const bytesMax = 1024 * 1024;
const callsMax = 128;
/** Of a call's id, into which some providers pack what they want to have back. */
export const callIdLengthMax = 16_384;

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
}

/** What a model has answered so far. */
export class ModelAnswer implements ChunkListener {
  readonly #listener: PieceListener;
  readonly #calls: OpenCall[] = [];
  #text = '';
  #bytes = 0;
  #finishReason: string | undefined;
  #usage: Usage | undefined;

  constructor(listener: PieceListener) {
    this.#listener = listener;
  }

  get content(): string {
    return this.#text;
  }

  /** Undefined until the model has said why it stops. */
  get finishReason(): string | undefined {
    return this.#finishReason;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** None of an answer that was filtered: what is left of it nobody has asked for. */
  get calls(): readonly ToolCall[] {
    if (this.#finishReason === 'content_filter') return [];
    return withOwnIds(this.#calls.filter(({ name }) => name !== ''));
  }

  model(name: string): void {
    this.#listener.onModel(name);
  }

  text(content: string): void {
    this.#count(content);
    this.#text += content;
    this.#listener.onText(content);
  }

  thought(content: string): void {
    this.#count(content);
    this.#listener.onThought(content);
  }

  call({ index, id, name, arguments: text }: CallPiece): void {
    if (!Number.isInteger(index) || index < 0 || index >= callsMax) return;
    while (this.#calls.length <= index) {
      this.#calls.push({ id: `call_${this.#calls.length}`, name: '', arguments: '' });
    }
    const call = this.#calls[index];
    if (!call) return;
    if (id) call.id = id;
    if (name) call.name = name;
    if (text) {
      this.#count(text);
      call.arguments += text;
    }
  }

  finish(reason: string): void {
    this.#finishReason = reason;
  }

  counted(usage: Usage): void {
    this.#usage = usage;
  }

  #count(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= bytesMax) return;
    throw new Fault('unavailable', 'the answer is longer than a message may be', {
      reason: 'answer_too_large',
    });
  }
}

/** Each call can be named: an id that another one has, or that is too long, gives way to a new one. */
function withOwnIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call, at) => {
    let id = call.id.length > callIdLengthMax || taken.has(call.id) ? `call_${at}` : call.id;
    while (taken.has(id)) id += '_';
    taken.add(id);
    return { ...call, id };
  });
}
