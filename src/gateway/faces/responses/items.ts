import type { Citation } from '../../conversation/request.ts';
import { writeProof, type Proof } from './proofs.ts';

/** An event of the stream, without its `sequence_number`. */
export interface ItemEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

type Status = 'in_progress' | 'completed' | 'incomplete';

/** An item of the output while it grows. */
export abstract class Item {
  readonly id: string;
  readonly outputIndex: number;
  protected status: Status = 'in_progress';

  constructor(id: string, outputIndex: number) {
    this.id = id;
    this.outputIndex = outputIndex;
  }

  /** As it stands now. */
  abstract get written(): Record<string, unknown>;

  added(): ItemEvent {
    return { type: 'response.output_item.added', ...this.#where, item: this.written };
  }

  /** Ends what it holds and itself. */
  close(isCut = false): ItemEvent[] {
    const events = this.finishParts();
    this.status = isCut ? 'incomplete' : 'completed';
    events.push({ type: 'response.output_item.done', ...this.#where, item: this.written });
    return events;
  }

  protected abstract finishParts(): ItemEvent[];

  protected event(type: string, fields: Readonly<Record<string, unknown>>): ItemEvent {
    return { type, item_id: this.id, ...this.#where, ...fields };
  }

  get #where() {
    return { output_index: this.outputIndex };
  }
}

type PartType = 'output_text' | 'refusal';

interface Part {
  readonly type: PartType;
  text: string;
  readonly annotations: Record<string, unknown>[];
}

/** What the model says, in parts of text and refusal. */
export class MessageItem extends Item {
  readonly #parts: Part[] = [];

  get written(): Record<string, unknown> {
    return {
      type: 'message',
      id: this.id,
      status: this.status,
      role: 'assistant',
      content: this.#parts.map(writePart),
    };
  }

  say(type: PartType, text: string): ItemEvent[] {
    const events: ItemEvent[] = [];
    let part = this.#parts.at(-1);
    if (part?.type !== type) {
      events.push(...this.finishParts());
      part = { type, text: '', annotations: [] };
      this.#parts.push(part);
      events.push(this.#partEvent('response.content_part.added', { part: writePart(part) }));
    }
    part.text += text;
    const logprobs = type === 'output_text' ? { logprobs: [] } : undefined;
    events.push(this.#partEvent(`response.${type}.delta`, { delta: text, ...logprobs }));
    return events;
  }

  /** Names the pages that the text so far speaks of. */
  cite(citations: readonly Citation[]): ItemEvent[] {
    const part = this.#parts.at(-1);
    if (part?.type !== 'output_text') return [];
    return citations.map(({ url, title, start, end }) => {
      const place = { start_index: start, end_index: end };
      const annotation = { type: 'url_citation', ...place, url, title };
      part.annotations.push(annotation);
      const at = { annotation_index: part.annotations.length - 1, annotation };
      return this.#partEvent('response.output_text.annotation.added', at);
    });
  }

  protected override finishParts(): ItemEvent[] {
    const part = this.#parts.at(-1);
    if (!part) return [];
    const said =
      part.type === 'refusal' ? { refusal: part.text } : { text: part.text, logprobs: [] };
    return [
      this.#partEvent(`response.${part.type}.done`, said),
      this.#partEvent('response.content_part.done', { part: writePart(part) }),
    ];
  }

  #partEvent(type: string, fields: Readonly<Record<string, unknown>>): ItemEvent {
    return this.event(type, { content_index: this.#parts.length - 1, ...fields });
  }
}

function writePart({ type, text, annotations }: Part): Record<string, unknown> {
  if (type === 'refusal') return { type, refusal: text };
  return { type, text, annotations: [...annotations], logprobs: [] };
}

/** A thought, as a summary of one part; its proof goes along encrypted. */
export class ThoughtItem extends Item {
  #text = '';
  #proof: Proof | undefined;

  get isProven(): boolean {
    return this.#proof !== undefined;
  }

  get written(): Record<string, unknown> {
    return {
      type: 'reasoning',
      id: this.id,
      summary: this.#text === '' ? [] : [this.#part],
      encrypted_content: this.#proof ? writeProof(this.#proof) : null,
      status: this.status,
    };
  }

  think(text: string): ItemEvent[] {
    if (text === '') return [];
    const events: ItemEvent[] = [];
    if (this.#text === '') {
      const part = { type: 'summary_text', text: '' };
      events.push(this.#summary('response.reasoning_summary_part.added', { part }));
    }
    this.#text += text;
    events.push(this.#summary('response.reasoning_summary_text.delta', { delta: text }));
    return events;
  }

  prove(proof: Proof): void {
    this.#proof = proof;
  }

  protected override finishParts(): ItemEvent[] {
    if (this.#text === '') return [];
    return [
      this.#summary('response.reasoning_summary_text.done', { text: this.#text }),
      this.#summary('response.reasoning_summary_part.done', { part: this.#part }),
    ];
  }

  get #part() {
    return { type: 'summary_text', text: this.#text };
  }

  #summary(type: string, fields: Readonly<Record<string, unknown>>): ItemEvent {
    return this.event(type, { summary_index: 0, ...fields });
  }
}

/** A call of a function. */
export class CallItem extends Item {
  readonly callId: string;
  readonly #name: string;
  #arguments = '';

  constructor(
    id: string,
    outputIndex: number,
    { callId, name }: { readonly callId: string; readonly name: string },
  ) {
    super(id, outputIndex);
    this.callId = callId;
    this.#name = name;
  }

  get written(): Record<string, unknown> {
    return {
      type: 'function_call',
      id: this.id,
      status: this.status,
      call_id: this.callId,
      name: this.#name,
      arguments: this.#arguments,
    };
  }

  append(piece: string): ItemEvent[] {
    if (piece === '') return [];
    this.#arguments += piece;
    return [this.event('response.function_call_arguments.delta', { delta: piece })];
  }

  protected override finishParts(): ItemEvent[] {
    // A call without arguments still has the empty object.
    const events = this.#arguments === '' ? this.append('{}') : [];
    const said = { name: this.#name, arguments: this.#arguments };
    events.push(this.event('response.function_call_arguments.done', said));
    return events;
  }
}
