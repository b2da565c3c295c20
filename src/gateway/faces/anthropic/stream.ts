import { newId } from '../../../kit/ids.ts';
import type { AnswerEvent, Usage } from '../../conversation/answer.ts';
import type { ReasoningPart } from '../../conversation/request.ts';
import { UpstreamError } from '../../dialects/upstream-error.ts';
import type { FaceStream } from '../face.ts';
import { isObjectText, readInput, signCall, writeHead, writeStop, writeUsage } from './answer.ts';
import type { Fields } from './fields.ts';
import { HeldPieces, type ContentEvent } from './held-pieces.ts';

type EventOf<T extends AnswerEvent['type']> = Extract<AnswerEvent, { type: T }>;

const nothingUsed: Usage = { inputTokens: 0, outputTokens: 0 };

/**
 * One message as events: a `message_start`, blocks one after the other, and, when the answer's end
 * comes, `message_delta` with all that was used and `message_stop`.
 */
export class MessageStream implements FaceStream {
  readonly #model: string;
  #hasStarted = false;
  #hasStopped = false;
  /** Of the next block. */
  #index = 0;
  #open: 'text' | 'thinking' | 'tool_use' | undefined;
  /** The last call that was opened, what came of its arguments, and all that were. */
  #call = -1;
  #arguments = '';
  readonly #called = new Set<number>();
  readonly #held = new HeldPieces();
  #hasRefused = false;
  /** A call that a limit cut off is what Anthropic's own stream shows with `max_tokens`. */
  #isCut = false;
  #usage = nothingUsed;
  #stop: Fields | undefined;

  /** `model` names the answer in case that its start was lost. */
  constructor(model: string) {
    this.#model = model;
  }

  write(event: AnswerEvent): string {
    if (this.#hasStopped) return '';
    switch (event.type) {
      case 'start':
        return this.#start(event.id, event.model, event.usage);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'end':
        return this.#begin() + this.#end();
      default:
        return event.choice === 0 ? this.#begin() + this.#take(event) : '';
    }
  }

  #writePiece(event: ContentEvent): string {
    switch (event.type) {
      case 'reasoning':
        return this.#think(event);
      case 'tool-call':
        return this.#growCall(event);
      case 'refusal':
        this.#hasRefused = true;
        return this.#say(event.text);
      default:
        return this.#say(event.text);
    }
  }

  #begin(): string {
    return this.#hasStarted ? '' : this.#start(newId('msg'), this.#model, undefined);
  }

  #start(id: string, model: string, usage = nothingUsed): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    this.#usage = usage;
    return frame('message_start', {
      message: {
        ...writeHead(id, model),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: writeUsage(usage),
      },
    });
  }

  #say(text: string): string {
    if (text === '') return '';
    const opened = this.#enter('text', { type: 'text', text: '' });
    return opened + this.#grow({ type: 'text_delta', text });
  }

  /** A signature ends a thought: what follows is another. */
  #think({ text, signature, redacted }: ReasoningPart): string {
    if (redacted !== undefined) return this.#block({ type: 'redacted_thinking', data: redacted });
    if (text === '' && signature === undefined) return '';
    let written = this.#enter('thinking', { type: 'thinking', thinking: '', signature: '' });
    if (text !== '') written += this.#grow({ type: 'thinking_delta', thinking: text });
    if (signature === undefined) return written;
    return written + this.#grow({ type: 'signature_delta', signature }) + this.#close();
  }

  /**
   * Anthropic's stream has one block at a time, and OpenAI's may have pieces of several calls in any
   * order: while a call still lacks some of its arguments, all that is not its own waits.
   */
  #take(event: ContentEvent | EventOf<'finish'>): string {
    if (event.type === 'finish') return this.#finish(event);
    if (this.#isTold(event) || (this.#held.isEmpty && this.#isBlockWhole()))
      return this.#writePiece(event);
    this.#held.add(event);
    return '';
  }

  /** A piece of a call whose block was begun. */
  #isTold(event: ContentEvent): boolean {
    return event.type === 'tool-call' && this.#called.has(event.call);
  }

  /** Whether the block that is open has all that it can have. */
  #isBlockWhole(): boolean {
    if (this.#open !== 'tool_use') return true;
    return this.#arguments.trimEnd().endsWith('}') && isObjectText(this.#arguments);
  }

  #finish(event: EventOf<'finish'>): string {
    let written = '';
    this.#isCut = event.finish === 'length';
    for (const held of this.#held.take()) written += this.#writePiece(held);
    if (!this.#isCut) this.#checkArguments();
    this.#stop = writeStop(event, this.#hasRefused);
    return written;
  }

  #growCall(event: EventOf<'tool-call'>): string {
    const { call, arguments: json } = event;
    const isOpen = this.#open === 'tool_use' && call === this.#call;
    if (!isOpen && this.#called.has(call)) return refuseMore(json);
    const opened = isOpen ? '' : this.#openCall(event);
    if (json === '') return opened;
    this.#arguments += json;
    return opened + this.#grow({ type: 'input_json_delta', partial_json: json });
  }

  #openCall({ call, id, name, signature }: EventOf<'tool-call'>): string {
    if (id === undefined || name === undefined)
      throw UpstreamError.of('broken', 'a tool call in the answer has no id or no name');
    const closed = this.#close();
    const signed = signature === undefined ? '' : this.#think(signCall(signature));
    this.#call = call;
    this.#called.add(call);
    this.#arguments = '';
    this.#open = 'tool_use';
    return closed + signed + this.#startBlock({ type: 'tool_use', id, name, input: {} });
  }

  #checkArguments(): void {
    if (this.#open === 'tool_use') readInput(this.#arguments);
  }

  #enter(kind: 'text' | 'thinking', block: Fields): string {
    if (this.#open === kind) return '';
    const closed = this.#close();
    this.#open = kind;
    return closed + this.#startBlock(block);
  }

  /** A block that is whole from its start. */
  #block(block: Fields): string {
    const closed = this.#close();
    this.#open = 'thinking';
    return closed + this.#startBlock(block) + this.#close();
  }

  #startBlock(block: Fields): string {
    return frame('content_block_start', { index: this.#index, content_block: block });
  }

  #grow(delta: Fields): string {
    return frame('content_block_delta', { index: this.#index, delta });
  }

  #close(): string {
    if (this.#open === undefined) return '';
    if (!this.#isCut) this.#checkArguments();
    this.#open = undefined;
    const index = this.#index;
    this.#index += 1;
    return frame('content_block_stop', { index });
  }

  #end(): string {
    if (!this.#stop) throw UpstreamError.of('truncated', 'the answer says no reason why it ended');
    this.#hasStopped = true;
    const closed = this.#close();
    const usage = writeUsage(this.#usage);
    return (
      closed + frame('message_delta', { delta: this.#stop, usage }) + frame('message_stop', {})
    );
  }
}

function frame(type: string, fields: Fields): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** White space may follow the arguments of a call that is closed, more may not. */
function refuseMore(json: string): string {
  if (json.trim() === '') return '';
  throw UpstreamError.of('broken', 'the arguments of a tool call are not a JSON object');
}
