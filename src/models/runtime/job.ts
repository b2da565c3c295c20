import type { Fault } from '../../kit/errors.ts';
import type { SpokenEvent, ToolCall } from '../inference/request.ts';
import type { ModelFile } from './model-file.ts';
import type { Task, TaskEnd } from './protocol.ts';

export type JobEvent = Exclude<SpokenEvent, { readonly type: 'end' }> | TaskEnd;

/** A longer time to stay would overflow a timer, and means for ever. */
export const timerMaxMs = 2 ** 31 - 1;

export interface JobOptions {
  readonly id: number;
  readonly file: ModelFile;
  readonly task: Task;
  /** Shares are fair between subjects. */
  readonly subject: string;
  /** How long the model stays after this; undefined leaves it as it is. */
  readonly keepAliveMs: number | undefined;
}

/**
 * One request between its caller and the child. Text that the caller has not taken yet is joined to
 * one string, so a slow caller holds at most one context of text, never a growing list.
 */
export class Job {
  readonly id: number;
  readonly file: ModelFile;
  readonly task: Task;
  readonly subject: string;
  readonly keepAliveMs: number | undefined;
  #text = '';
  #hasOutput = false;
  readonly #calls: ToolCall[] = [];
  #outcome: TaskEnd | Fault | undefined;
  #wake: (() => void) | undefined;

  constructor({ id, file, task, subject, keepAliveMs }: JobOptions) {
    this.id = id;
    this.file = file;
    this.task = task;
    this.subject = subject;
    this.keepAliveMs = keepAliveMs;
  }

  /** Whether the caller was given a part of the answer. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** Whether the caller has its outcome; whatever comes later is dropped. */
  get isSettled(): boolean {
    return this.#outcome !== undefined;
  }

  append(text: string): void {
    if (this.isSettled) return;
    this.#hasOutput = true;
    this.#text += text;
    this.#wake?.();
  }

  /** Calls come after all text, as no text follows a call. */
  appendCall(call: ToolCall): void {
    if (this.isSettled) return;
    this.#hasOutput = true;
    this.#calls.push(call);
    this.#wake?.();
  }

  /** The first outcome counts. */
  settle(outcome: TaskEnd | Fault): void {
    this.#outcome ??= outcome;
    this.#wake?.();
  }

  /** To be read once. Throws the Fault when the outcome is one. */
  async *events(): AsyncGenerator<JobEvent, void, undefined> {
    while (true) {
      const event = this.#takeEvent();
      if (event) {
        yield event;
      } else if (this.#outcome === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      } else if (this.#outcome instanceof Error) {
        throw this.#outcome;
      } else {
        yield this.#outcome;
        return;
      }
    }
  }

  #takeEvent(): JobEvent | undefined {
    if (this.#text !== '') {
      const text = this.#text;
      this.#text = '';
      return { type: 'text', text };
    }
    const call = this.#calls.shift();
    return call && { type: 'tool-call', call };
  }
}
