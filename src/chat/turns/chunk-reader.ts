import { StringDecoder } from 'node:string_decoder';
import { Fault } from '../../kit/errors.ts';
import type { Usage } from '../conversations/conversation.ts';
import { readUsage } from './provider-usage.ts';

/** A piece of a call as it streams in; what is absent came before or comes later. */
export interface CallPiece {
  readonly index: number;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
}

/** Told of what the gateway streams, in its order. */
export interface ChunkListener {
  model(name: string): void;
  text(content: string): void;
  thought(content: string): void;
  call(piece: CallPiece): void;
  finish(reason: string): void;
  counted(usage: Usage): void;
}

const lineCharsMax = 4 * 1024 * 1024;

/**
 * Reads the gateway's chat completion chunks (server-sent events) as they come. A chunk that differs
 * from the one before in nothing but its text is not parsed, which is what most chunks are. Throws a
 * Fault for an error that the stream tells, and for what makes no sense.
 */
export class ChunkReader {
  readonly #listener: ChunkListener;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  /** What stands around the text of a chunk that was nothing but text. */
  #head = '';
  #tail = '';
  #model = '';
  #isDone = false;

  constructor(listener: ChunkListener) {
    this.#listener = listener;
  }

  /** `[DONE]` came: the answer is whole. */
  get isDone(): boolean {
    return this.#isDone;
  }

  push(chunk: Buffer): void {
    const text = this.#rest + this.#decoder.write(chunk);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      // Blank lines end events; each of the gateway's has one line.
      if (end > start) this.#line(text, start, end);
      start = end + 1;
    }
    this.#rest = start === text.length ? '' : text.slice(start);
    if (this.#rest.length > lineCharsMax) throw broken();
  }

  #line(text: string, start: number, end: number): void {
    if (!text.startsWith('data:', start)) return;
    const from = start + (text[start + 5] === ' ' ? 6 : 5);
    const data = withoutNul(text.slice(from, text[end - 1] === '\r' ? end - 1 : end));
    const content = this.#head === '' ? undefined : this.#textOf(data);
    if (content !== undefined) this.#listener.text(content);
    else this.#read(data);
  }

  /** The text of a chunk that is the same as an earlier one but for it. */
  #textOf(data: string): string | undefined {
    const head = this.#head;
    const tail = this.#tail;
    if (data.length < head.length + tail.length) return undefined;
    if (!data.startsWith(head) || !data.endsWith(tail)) return undefined;
    const quoted = data.slice(head.length, data.length - tail.length);
    if (quoted.includes('"') || quoted.includes('\\')) return unquote(quoted);
    return quoted;
  }

  #read(data: string): void {
    if (data === '[DONE]') {
      this.#isDone = true;
      return;
    }
    const chunk = parse(data);
    if (chunk.error) throw failureOf(chunk.error);
    if (chunk.model && chunk.model !== this.#model) {
      this.#model = chunk.model;
      this.#listener.model(chunk.model);
    }
    const choice = chunk.choices?.[0];
    if (choice && (choice.index ?? 0) === 0) this.#choice(choice, data);
    const usage = readUsage(chunk.usage);
    if (usage) this.#listener.counted(usage);
  }

  #choice({ delta, finish_reason: finish }: ChunkChoice, data: string): void {
    const { tool_calls: calls } = delta ?? {};
    const content = answerIn(delta?.content);
    const refusal = answerIn(delta?.refusal);
    this.#thought(delta);
    if (content) {
      this.#learn(data, content);
      this.#listener.text(content);
    }
    if (refusal) this.#listener.text(refusal);
    for (const call of calls ?? []) this.#listener.call(pieceOf(call));
    if (finish) this.#listener.finish(finish);
  }

  #thought(delta: ChunkChoice['delta']): void {
    const thought = textIn(delta?.reasoning_content ?? delta?.reasoning);
    if (thought) this.#listener.thought(thought);
  }

  /** Keeps what stands around the text, where the same around another text means just that text. */
  #learn(data: string, content: string): void {
    const mark = '"delta":{"content":"';
    const at = data.indexOf(mark);
    const tail = at < 0 ? -1 : at + mark.length + JSON.stringify(content).length - 2;
    this.#head = '';
    if (tail < 0 || !data.startsWith('"}', tail) || !isPlainTail(data, tail)) return;
    this.#head = data.slice(0, at + mark.length);
    this.#tail = data.slice(tail);
  }
}

/** Nothing but the text is told by this chunk. */
function isPlainTail(data: string, tail: number): boolean {
  const rest = data.slice(tail);
  const { usage, choices } = parse(data);
  return !usage && !choices?.[0]?.finish_reason && !rest.includes('"content"');
}

/** Providers send what they like. */
function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function pieceOf({ index = 0, id, function: called }: ChunkCall): CallPiece {
  const { name, arguments: given } = called ?? {};
  // Some send the arguments as an object.
  const text = textIn(given) ?? (given ? JSON.stringify(given) : undefined);
  return { index, id: textIn(id), name: textIn(name), arguments: text };
}

/** Of an answer nothing may be lost. */
function answerIn(value: unknown): string | undefined {
  const text = textIn(value);
  if (text === undefined && value !== undefined && value !== null) throw broken();
  return text;
}

/** JSON with U+FFFD in the place of U+0000, which no database stores: live and stored texts are the same. */
function withoutNul(json: string): string {
  return json.includes('\\u0000') ? json.replaceAll(everyNul, '$1\ufffd') : json;
}

const everyNul = /(?<!\\)((?:\\\\)*)\\u0000/g;

function unquote(quoted: string): string | undefined {
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return undefined;
  }
}

interface ChunkCall {
  readonly index?: number;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

interface ChunkChoice {
  readonly index?: number;
  readonly delta?: {
    readonly content?: unknown;
    readonly refusal?: unknown;
    readonly reasoning_content?: unknown;
    readonly reasoning?: unknown;
    readonly tool_calls?: readonly ChunkCall[] | null;
  };
  readonly finish_reason?: string | null;
}

interface Chunk {
  readonly model?: string;
  readonly choices?: readonly ChunkChoice[];
  readonly usage?: unknown;
  readonly error?: { readonly message?: string; readonly code?: string };
}

function parse(data: string): Chunk {
  try {
    // The gateway's contract; what is not there is undefined here too.
    return (JSON.parse(data) ?? {}) as Chunk;
  } catch (error) {
    throw broken(error);
  }
}

function failureOf({ message = 'the model failed', code }: NonNullable<Chunk['error']>): Fault {
  return new Fault('unavailable', message, { reason: (code ?? 'provider_error').toLowerCase() });
}

function broken(cause?: unknown): Fault {
  return new Fault('unavailable', 'the gateway sent a stream that makes no sense', {
    cause,
    reason: 'gateway_broken',
  });
}
