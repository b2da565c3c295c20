import type { AnswerEvent, Usage } from '../../conversation/answer.ts';
import type { ChatRequest } from '../../conversation/request.ts';
import { writeExact } from '../../dialects/exact-json.ts';
import type { FaceStream } from '../face.ts';
import type { ItemEvent } from './items.ts';
import { Output } from './output.ts';
import { writeResponse } from './response.ts';

/** Writes the event sequence of a streamed response, from `response.created` to its end. */
export class ResponseStream implements FaceStream {
  readonly #request: ChatRequest;
  #output: Output | undefined;
  #model = '';
  #createdAt = 0;
  #usage: Usage | undefined;
  #sequence = 0;

  constructor(request: ChatRequest) {
    this.#request = request;
  }

  get eventCount(): number {
    return this.#sequence;
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case 'start':
        return this.#output ? '' : this.#start(event);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'end':
        return this.#end();
      default:
        return this.#output ? this.#frame(this.#output.add(event)) : '';
    }
  }

  #start({ id, model, createdAt, usage }: Extract<AnswerEvent, { type: 'start' }>): string {
    this.#output = new Output(id);
    this.#model = model;
    this.#createdAt = createdAt;
    this.#usage ??= usage;
    const response = this.#response(this.#output, false);
    return this.#frame([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]);
  }

  #end(): string {
    if (!this.#output) return '';
    const response = this.#response(this.#output, true);
    return this.#frame([{ type: `response.${String(response['status'])}`, response }]);
  }

  #response(output: Output, isEnded: boolean): Record<string, unknown> {
    const state = { output, model: this.#model, createdAt: this.#createdAt, isEnded };
    return writeResponse({ ...state, usage: this.#usage }, this.#request);
  }

  #frame(events: readonly ItemEvent[]): string {
    let framed = '';
    for (const { type, ...fields } of events) {
      const data = { type, sequence_number: this.#sequence, ...fields };
      framed += `event: ${type}\ndata: ${writeExact(data)}\n\n`;
      this.#sequence += 1;
    }
    return framed;
  }
}
