import type { Fault } from '../../kit/errors.ts';
import type { ModelFile } from './model-file.ts';
import type { GenerateEnd, GenerateEvent, Work } from './request.ts';

/**
 * One request between its caller and the child. Text that the caller has not taken yet is joined to
 * one string, so a slow caller holds at most one context of text, never a growing list.
 */
export class Job {
  readonly id: number;
  readonly file: ModelFile;
  readonly work: Work;
  #text = '';
  #outcome: GenerateEnd | Fault | undefined;
  #wake: (() => void) | undefined;

  constructor(id: number, file: ModelFile, work: Work) {
    this.id = id;
    this.file = file;
    this.work = work;
  }

  /** Whether the caller has its outcome; whatever comes later is dropped. */
  get isSettled(): boolean {
    return this.#outcome !== undefined;
  }

  append(text: string): void {
    if (this.isSettled) return;
    this.#text += text;
    this.#wake?.();
  }

  /** The first outcome counts. */
  settle(outcome: GenerateEnd | Fault): void {
    this.#outcome ??= outcome;
    this.#wake?.();
  }

  /** To be read once. Throws the Fault when the outcome is one. */
  async *events(): AsyncGenerator<GenerateEvent, void, undefined> {
    while (true) {
      if (this.#text !== '') {
        yield { type: 'text', text: this.#takeText() };
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

  #takeText(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
