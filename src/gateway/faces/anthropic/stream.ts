import { newId } from '../../../kit/ids.ts';
import type { AnswerEvent, Usage } from '../../conversation/answer.ts';
import type { ReasoningPart } from '../../conversation/request.ts';
import { UpstreamError } from '../../dialects/upstream-error.ts';
import type { FaceStream } from '../face.ts';
import { signCall, writeHead, writeStop, writeUsage } from './answer.ts';
import type { Fields } from './fields.ts';

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
  #call = -1;
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
        return event.choice === 0 ? this.#begin() + this.#writePiece(event) : '';
    }
  }

  #writePiece(event: EventOf<'text' | 'refusal' | 'reasoning' | 'tool-call' | 'finish'>): string {
    switch (event.type) {
      case 'reasoning':
        return this.#think(event);
      case 'tool-call':
        return this.#growCall(event);
      case 'finish':
        this.#stop = writeStop(event);
        return '';
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

  #growCall({ call, id, name, signature, arguments: json }: EventOf<'tool-call'>): string {
    if (call <= this.#call && json === '') return '';
    const opened = call === this.#call ? '' : this.#openCall(call, { id, name, signature });
    if (this.#open !== 'tool_use')
      throw UpstreamError.of('broken', 'the pieces of the tool calls came out of order');
    return (
      opened + (json === '' ? '' : this.#grow({ type: 'input_json_delta', partial_json: json }))
    );
  }

  #openCall(
    call: number,
    { id, name, signature }: Pick<EventOf<'tool-call'>, 'id' | 'name' | 'signature'>,
  ): string {
    if (call < this.#call || id === undefined || name === undefined)
      throw UpstreamError.of('broken', 'the pieces of the tool calls came out of order');
    this.#call = call;
    const closed = this.#close();
    const signed = signature === undefined ? '' : this.#think(signCall(signature));
    this.#open = 'tool_use';
    return closed + signed + this.#startBlock({ type: 'tool_use', id, name, input: {} });
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
