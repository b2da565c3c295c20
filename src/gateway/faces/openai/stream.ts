import type { AnswerEvent, Usage } from '../../conversation/answer.ts';
import { writeCitations } from '../../dialects/openai/citations.ts';
import { writeThoughts } from '../../dialects/openai/reasoning.ts';
import type { FaceStream } from '../face.ts';
import { chatId, writeFinish, writeProof } from './write-answer.ts';
import { writeUsage } from './write-usage.ts';

type ChoiceEvent = Extract<AnswerEvent, { choice: number }>;

/**
 * Writes chat completion chunks: a choice's role first, then its pieces and its end; the usage chunk
 * only when the client wants it, and `[DONE]` only when the answer is whole.
 */
export class ChatStream implements FaceStream {
  readonly #wantsUsage: boolean;
  readonly #begun = new Set<number>();
  #head = '';
  #usage: Usage | undefined;

  constructor(wantsUsage: boolean) {
    this.#wantsUsage = wantsUsage;
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case 'start':
        this.#start(event);
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'end':
        return this.#end();
      default:
        return this.#begin(event) + this.#choice(event);
    }
  }

  #start({ id, model, createdAt, usage }: Extract<AnswerEvent, { type: 'start' }>): void {
    if (this.#head !== '') return;
    const fields = { id: chatId(id), object: 'chat.completion.chunk', created: createdAt, model };
    this.#head = `data: ${JSON.stringify(fields).slice(0, -1)},"choices":[`;
    this.#usage ??= usage;
  }

  /** OpenAI's first chunk of a choice names the role and no text; before a call, null. */
  #begin({ choice, type }: ChoiceEvent): string {
    if (this.#begun.has(choice)) return '';
    this.#begun.add(choice);
    const content = type === 'tool-call' ? null : '';
    return this.#chunk(choice, { role: 'assistant', content, refusal: null });
  }

  #choice(event: ChoiceEvent): string {
    const { choice } = event;
    switch (event.type) {
      case 'text':
        return this.#chunk(choice, writeText(event), { logprobs: event.logprobs });
      case 'refusal':
        return this.#chunk(choice, { refusal: event.text });
      case 'reasoning':
        return this.#chunk(choice, writeThoughts([event]));
      case 'tool-call':
        return this.#chunk(choice, { tool_calls: [writePiece(event)] });
      case 'finish':
        return this.#chunk(choice, {}, { finish: writeFinish(event.finish) });
      default:
        return '';
    }
  }

  #chunk(choice: number, delta: object, { logprobs, finish }: ChunkEnd = {}): string {
    const said = `{"index":${choice},"delta":${JSON.stringify(delta)}`;
    const end = `"logprobs":${JSON.stringify(logprobs ?? null)},"finish_reason":${finish ? `"${finish}"` : 'null'}}`;
    return `${this.#head}${said},${end}]${this.#wantsUsage ? ',"usage":null' : ''}}\n\n`;
  }

  #end(): string {
    const usage = this.#wantsUsage && this.#usage ? this.#usage : undefined;
    const last = usage ? `${this.#head}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n` : '';
    return `${last}data: [DONE]\n\n`;
  }
}

interface ChunkEnd {
  readonly logprobs?: unknown;
  readonly finish?: string;
}

function writeText({ text, citations }: Extract<AnswerEvent, { type: 'text' }>) {
  return { content: text, ...(citations && { annotations: writeCitations(citations) }) };
}

function writePiece({ call, id, name, arguments: text, signature }: CallPiece) {
  const isFirst = id !== undefined || name !== undefined;
  return {
    index: call,
    ...(isFirst && { id: id ?? '', type: 'function' }),
    function: { ...(isFirst && { name: name ?? '' }), arguments: text },
    ...writeProof(signature),
  };
}

type CallPiece = Extract<AnswerEvent, { type: 'tool-call' }>;
