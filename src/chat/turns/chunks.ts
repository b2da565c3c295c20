import { toUsage } from '../conversations/answers.ts';
import { addUsage, type ToolCall, type Usage } from '../conversations/conversation.ts';
import { writeCall } from './history.ts';
import type { Turn, TurnEvent } from './turn.ts';

type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;

/** The last line of a stream that is complete. */
export const doneFrame = 'data: [DONE]\n\n';

/**
 * Writes a turn's events as server-sent chat completion chunks, of which each names its turn and its
 * place in it.
 */
export class ChunkWriter {
  readonly #turn: Turn;
  #head = '';
  #tail = '';
  /** Calls of the caller's own tools so far. */
  #callCount = 0;
  /** OpenAI's clients learn who speaks from the first chunk. */
  #isFirst: boolean;

  /** `isFirst` unless the reader has earlier chunks already. */
  constructor(turn: Turn, { isFirst }: { readonly isFirst: boolean }) {
    this.#turn = turn;
    this.#isFirst = isFirst;
    this.answer(turn);
  }

  /** Which message is written from now on, and by what. */
  answer({ messageId, model }: Pick<Turn, 'messageId' | 'model'>): void {
    const { id, createdAtMs, conversationId } = this.#turn;
    const created = Math.floor(createdAtMs / 1000);
    const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model });
    this.#head = `${head.slice(0, -1)},"choices":[{"index":0,"delta":`;
    const places = JSON.stringify({
      ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
      message_id: messageId,
    });
    this.#tail = `}],${places.slice(1, -1)}`;
  }

  /** The frame of an event; none of what only says that an answer begins. */
  write(event: TurnEvent): string {
    const { seq } = event;
    switch (event.type) {
      case 'delta':
        return this.#frame(seq, `"content":${JSON.stringify(event.content)}`);
      case 'reasoning':
        return this.#frame(seq, `"reasoning_content":${JSON.stringify(event.content)}`);
      case 'begun':
        this.answer(event);
        return '';
      case 'tool-call':
        return event.isCallers ? this.#callersCall(event) : this.#toolCall(event);
      case 'approval':
        return this.#frame(seq, '', {
          more: { approval: { call_id: event.callId, approved: event.isApproved } },
        });
      case 'tool-result':
        return this.#frame(seq, '', { more: { tool_result: writeResult(event) } });
      case 'ended':
        return this.#end(event) + doneFrame;
      default:
        return '';
    }
  }

  #end({ seq, messageId, model, finishReason, usage }: EventOf<'ended'>): string {
    this.answer({ messageId, model });
    const more = usage ? { usage: toUsage(usage) } : {};
    return this.#frame(seq, '', { finishReason, more });
  }

  #toolCall({ seq, call, needsApproval }: EventOf<'tool-call'>): string {
    const { id, name, arguments: text } = call;
    const told = { call_id: id, name, arguments: text, needs_approval: needsApproval };
    return this.#frame(seq, '', { more: { tool_call: told } });
  }

  /** As OpenAI's clients expect it. */
  #callersCall({ seq, call }: EventOf<'tool-call'>): string {
    const index = this.#callCount;
    this.#callCount += 1;
    return this.#frame(seq, `"tool_calls":${JSON.stringify([{ index, ...writeCall(call) }])}`);
  }

  /** `delta` without its braces. */
  #frame(seq: number, delta: string, { finishReason, more = {} }: FrameEnd = {}): string {
    const reason = finishReason === undefined ? 'null' : JSON.stringify(finishReason);
    const fields = JSON.stringify(more).slice(1, -1);
    const rest = fields === '' ? '' : `,${fields}`;
    const said = this.#isFirst ? firstDelta(delta) : delta;
    this.#isFirst = false;
    return `id: ${this.#turn.id}:${seq}\ndata: ${this.#head}{${said}},"finish_reason":${reason}${this.#tail}${rest}}\n\n`;
  }
}

interface FrameEnd {
  readonly finishReason?: string;
  readonly more?: object;
}

function firstDelta(delta: string): string {
  return delta === '' ? '"role":"assistant"' : `"role":"assistant",${delta}`;
}

/** A turn's answer as a whole. */
export class CompletionWriter {
  readonly #turn: Turn;
  #messageId: string;
  #model: string;
  #content = '';
  #thoughts = '';
  #calls: ToolCall[] = [];
  #asked: ToolCall[] = [];
  /** Of the answers so far. */
  #usage: Usage | undefined;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#messageId = turn.messageId;
    this.#model = turn.model;
  }

  /** Takes an event; the completion once there is one. */
  take(event: TurnEvent): object | undefined {
    switch (event.type) {
      case 'begun':
        this.#begin(event);
        return undefined;
      case 'delta':
        this.#content += event.content;
        return undefined;
      case 'reasoning':
        this.#thoughts += event.content;
        return undefined;
      case 'tool-call':
        if (event.isCallers) this.#calls.push(event.call);
        if (event.needsApproval) this.#asked.push(event.call);
        this.#usage = addUsage(this.#usage, event.usage);
        return undefined;
      case 'ended':
        this.#messageId = event.messageId;
        this.#model = event.model;
        return this.#completion(event.finishReason, event.usage ?? this.#usage);
      default:
        return undefined;
    }
  }

  /** What there is while the turn waits for its user. */
  waiting(): object {
    const pending = this.#asked.map(({ id, name }) => ({ call_id: id, name }));
    return { ...this.#completion('tool_calls', this.#usage), pending_approvals: pending };
  }

  #begin({ messageId, model }: EventOf<'begun'>): void {
    this.#messageId = messageId;
    this.#model = model;
    this.#content = '';
    this.#thoughts = '';
    this.#asked = [];
  }

  #completion(finishReason: string, usage: Usage | undefined) {
    const { id, createdAtMs, conversationId } = this.#turn;
    const calls = [...this.#calls, ...this.#asked].map(writeCall);
    const message = {
      role: 'assistant',
      content: this.#content === '' && calls.length > 0 ? null : this.#content,
      ...(this.#thoughts === '' ? {} : { reasoning_content: this.#thoughts }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      id,
      object: 'chat.completion',
      created: Math.floor(createdAtMs / 1000),
      model: this.#model,
      choices: [{ index: 0, message, finish_reason: finishReason }],
      usage: toUsage(usage ?? noUsage),
      ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
      message_id: this.#messageId,
    };
  }
}

/** The field has to be there, also where nobody has counted. */
const noUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };

function writeResult({ callId, name, content, isError }: EventOf<'tool-result'>) {
  return { call_id: callId, name, content, is_error: isError };
}
