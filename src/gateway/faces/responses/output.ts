import { randomUUID } from 'node:crypto';
import type { AnswerEvent, Finish } from '../../conversation/answer.ts';
import { CallItem, MessageItem, ThoughtItem, type Item, type ItemEvent } from './items.ts';

type ChoiceEvent = Extract<AnswerEvent, { choice: number }>;

/** Turns the pieces of an answer into output items and the events that tell of them. */
export class Output {
  readonly #key: string;
  readonly #items: Item[] = [];
  readonly #calls = new Map<number, CallItem>();
  /** The message or thought that still grows. */
  #open: MessageItem | ThoughtItem | undefined;
  finish: Finish = 'stop';

  constructor(answerId: string) {
    const own = answerId.replace(/^(?:chatcmpl[-_]|msg_|resp_)/, '').replaceAll(/[^\w-]/g, '');
    this.#key = own === '' ? randomUUID().replaceAll('-', '') : own;
  }

  get responseId(): string {
    return `resp_${this.#key}`;
  }

  /** Every item, as far as it came. */
  get items(): readonly Record<string, unknown>[] {
    return this.#items.map((item) => item.written);
  }

  add(event: ChoiceEvent): ItemEvent[] {
    // The API knows one answer only.
    if (event.choice !== 0) return [];
    switch (event.type) {
      case 'text':
      case 'refusal':
        return [...(event.text === '' ? [] : this.#say(event)), ...this.#cite(event)];
      case 'reasoning':
        return this.#think(event);
      case 'tool-call':
        return this.#call(event);
      default:
        return this.#end(event.finish);
    }
  }

  #say({ type, text }: Extract<ChoiceEvent, { type: 'text' | 'refusal' }>): ItemEvent[] {
    const events: ItemEvent[] = [];
    if (!(this.#open instanceof MessageItem)) {
      events.push(...this.#close());
      this.#open = this.#place(new MessageItem(this.#name('msg'), this.#items.length), events);
    }
    events.push(...this.#open.say(type === 'text' ? 'output_text' : 'refusal', text));
    return events;
  }

  #cite(event: Extract<ChoiceEvent, { type: 'text' | 'refusal' }>): ItemEvent[] {
    if (event.type !== 'text' || !event.citations) return [];
    return this.#open instanceof MessageItem ? this.#open.cite(event.citations) : [];
  }

  #think(event: Extract<ChoiceEvent, { type: 'reasoning' }>): ItemEvent[] {
    const events: ItemEvent[] = [];
    const isNew = event.redacted !== undefined || !this.#isThinking(this.#open);
    if (isNew) events.push(...this.#close());
    const thought = isNew ? this.#openThought(events) : this.#open;
    if (!(thought instanceof ThoughtItem)) return events;
    this.#open = thought;
    events.push(...thought.think(event.text));
    const { signature, redacted } = event;
    if (signature !== undefined || redacted !== undefined) thought.prove({ signature, redacted });
    return events;
  }

  #isThinking(item: Item | undefined): boolean {
    return item instanceof ThoughtItem && !item.isProven;
  }

  #openThought(events: ItemEvent[]): ThoughtItem {
    return this.#place(new ThoughtItem(this.#name('rs'), this.#items.length), events);
  }

  #call(event: Extract<ChoiceEvent, { type: 'tool-call' }>): ItemEvent[] {
    const events = this.#close();
    const known = this.#calls.get(event.call);
    const id = known?.callId ?? event.id ?? '';
    if (event.signature !== undefined) {
      // A call has no field for its proof, so that a thought without text carries it.
      const proof = this.#openThought(events);
      proof.prove({ signature: event.signature, call: id });
      events.push(...proof.close());
    }
    let call = known;
    if (!call) {
      const named = { callId: id, name: event.name ?? '' };
      call = this.#place(new CallItem(this.#name('fc'), this.#items.length, named), events);
      this.#calls.set(event.call, call);
    }
    events.push(...call.append(event.arguments));
    return events;
  }

  #end(finish: Finish): ItemEvent[] {
    this.finish = finish;
    const isCut = finish === 'length' || finish === 'content-filter';
    const events = this.#close(isCut);
    for (const call of this.#calls.values()) events.push(...call.close(isCut));
    return events;
  }

  #close(isCut = false): ItemEvent[] {
    const events = this.#open?.close(isCut) ?? [];
    this.#open = undefined;
    return events;
  }

  #name(prefix: string): string {
    return `${prefix}_${this.#key}_${this.#items.length}`;
  }

  #place<T extends Item>(item: T, events: ItemEvent[]): T {
    this.#items.push(item);
    events.push(item.added());
    return item;
  }
}
